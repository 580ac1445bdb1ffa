import { describe, expect, it } from 'vitest';
import { eventually, FAST, useService } from '../../support/service.ts';
import { createFlows } from './flows.ts';

const service = useService({ ...FAST, concurrency: 2 });

// Tracing is best effort, so it has no visible effect. Lambda requires the permission to list streams, but the local stack does not.
const INVISIBLE = ['xray:PutTraceSegments', 'xray:PutTelemetryRecords', 'dynamodb:ListStreams'];

/** Each repetition can be disturbed by the load of the machine too. */
const REPEATS = 4;

describe('the roles', () => {
  it('allow everything that the flows need, and need each of their grants', async () => {
    const flows = Object.entries(await createFlows(service));
    const run = async ([name, flow]: (typeof flows)[number]) => {
      await flow().catch((error: Error) => {
        throw new Error(`${name}: ${error.message}`, { cause: error });
      });
    };
    const superfluous = () =>
      service.stack.iam
        .unneeded()
        .filter(({ action }) => !INVISIBLE.includes(action))
        .map(({ role, action, resource, kind }) => `${role} ${action} ${kind ?? resource}`);
    for (const each of flows) await run(each);
    // On a busy machine, an endpoint can be slow, and another lane then does the work.
    for (let repeats = 0; repeats < REPEATS && superfluous().length > 0; repeats++)
      for (const each of flows) if (superfluous().some((grant) => grant.startsWith(each[0]))) await run(each);
    await eventually(() => superfluous().length === 0).catch(() => {});
    expect(superfluous()).toEqual([]);
  });
});
