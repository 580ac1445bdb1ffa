import { beforeAll, describe, expect, it } from 'vitest';
import type { Grant } from '../../infra/local/services/iam.ts';
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
    const superfluous: string[] = [];
    for (const grant of service.stack.iam.grants()) {
      if (INVISIBLE.includes(grant.action)) continue;
      // A flow that breaks before it gets there says nothing: what the one before left behind may have met it.
      let outcome = await askedFor(grant);
      for (let tries = 1; outcome.startsWith('broke') && tries < 3; tries++) outcome = await askedFor(grant);
      if (outcome !== 'asked') superfluous.push(`${grant.role} ${grant.action} ${grant.resources}: ${outcome}`);
    }
    expect(superfluous).toEqual([]);
  });

  async function askedFor(grant: Grant): Promise<string> {
    const { iam } = service.stack;
    const asked = iam.withhold(grant).then(() => 'asked');
    const flow = (flows[flowOf(grant.role)]?.() ?? Promise.resolve()).then(
      () => 'went well',
      (error: Error) => `broke: ${error.message}`,
    );
    const outcome = await Promise.race([asked, flow]);
    isAbandoned = true;
    void iam.withhold(undefined);
    await flow;
    isAbandoned = false;
    return outcome;
  }
});
