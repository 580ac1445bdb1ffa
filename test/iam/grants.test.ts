import { beforeAll, describe, expect, it } from 'vitest';
import { useService } from '../support/service.ts';
import { createFlows } from './flows.ts';

const service = useService({ speed: 200_000, visibilitySpeed: 2000, concurrency: 2 });
let flows: Record<string, () => Promise<void>>;
let isAbandoned = false;

beforeAll(async () => {
  flows = await createFlows(service, { isAbandoned: () => isAbandoned });
});

// Tracing is best effort: nothing that can be seen depends on it.
const INVISIBLE = ['xray:PutTraceSegments', 'xray:PutTelemetryRecords'];
/** The flow of a role is the one whose name its own begins with; the longest, if several do. */
const flowOf = (role: string) =>
  Object.keys(flows)
    .filter((name) => role.startsWith(name))
    .sort((a, b) => b.length - a.length)[0] ?? '';

describe('the roles', () => {
  it('may do all that the flows need', { timeout: 240_000 }, async () => {
    for (const [name, flow] of Object.entries(flows)) {
      await flow().catch((error: Error) => {
        throw new Error(`${name}: ${error.message}`, { cause: error });
      });
    }
  });

  it('need each of their grants: what is withheld is asked for', { timeout: 400_000 }, async () => {
    const { iam } = service.stack;
    const superfluous: string[] = [];
    for (const grant of iam.grants()) {
      if (INVISIBLE.includes(grant.action)) continue;
      const asked = iam.withhold(grant).then(() => 'asked');
      const flow = flows[flowOf(grant.role)]?.().then(
        () => 'went well',
        () => 'broke',
      );
      const outcome = await Promise.race([asked, flow]);
      isAbandoned = true;
      void iam.withhold(undefined);
      await flow;
      isAbandoned = false;
      if (outcome !== 'asked') superfluous.push(`${grant.role} ${grant.action} ${grant.resources}: ${outcome}`);
    }
    expect(superfluous).toEqual([]);
  });
});
