import { beforeAll, describe, expect, it } from 'vitest';
import { useService } from '../support/service.ts';
import { createFlows } from './flows.ts';

const service = useService({
  speed: 200_000,
  visibilitySpeed: 2000,
  concurrency: 2,
  environment: { AWS_MAX_ATTEMPTS: '1' },
});
const patience = { ms: 20_000 };
let flows: Record<string, () => Promise<void>>;

beforeAll(async () => {
  flows = await createFlows(service, patience);
});

// Tracing is best effort: nothing that can be seen depends on it.
const INVISIBLE = ['xray:PutTraceSegments', 'xray:PutTelemetryRecords'];
/** The flow of a role is the one whose name its own begins with; the longest, if several do. */
const flowOf = (role: string) =>
  Object.keys(flows)
    .filter((name) => role.startsWith(name))
    .sort((a, b) => b.length - a.length)[0] ?? '';

describe('the roles', () => {
  it('may do all that the flows need', { timeout: 60_000 }, async () => {
    for (const [name, flow] of Object.entries(flows)) {
      await flow().catch((error: Error) => {
        throw new Error(`${name}: ${error.message}`, { cause: error });
      });
    }
  });

  it('need each of their grants: without any one, a flow breaks', { timeout: 400_000 }, async () => {
    const { iam } = service.stack;
    const superfluous: string[] = [];
    patience.ms = 2500;
    for (const grant of iam.grants()) {
      if (INVISIBLE.includes(grant.action)) continue;
      iam.struck = grant;
      const broke = await flows[flowOf(grant.role)]?.().then(
        () => false,
        () => true,
      );
      iam.struck = undefined;
      if (!broke) superfluous.push(`${grant.role} ${grant.action} ${grant.resources}`);
    }
    expect(superfluous).toEqual([]);
    expect(iam.grants().length).toBeGreaterThan(50);
  });
});
