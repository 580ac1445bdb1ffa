import fc from 'fast-check';
import { beforeAll, describe, it } from 'vitest';
import { useService } from '../../support/service.ts';
import { createScenario, KINDS, OPTIONS, type Scenario } from './harness.ts';

const RUNS = Number(process.env.FAULT_RUNS ?? 5);
const service = useService(OPTIONS);
let scenario: Scenario;

beforeAll(async () => {
  scenario = await createScenario(service);
});

describe('several faults in one run', () => {
  it(`lose no data (${RUNS} schedules)`, { timeout: RUNS * 20_000 }, async () => {
    // Limits the faults per call, because 5 receives would correctly move the message to the dead-letter queue.
    const faults = fc.uniqueArray(
      fc.record({ at: fc.nat(35), kind: fc.constantFrom(...KINDS, 'duplicate' as const) }),
      {
        minLength: 2,
        maxLength: 4,
        selector: ({ at, kind }) => `${at} ${kind === 'duplicate'}`,
      },
    );
    await fc.assert(
      fc.asyncProperty(faults, async (planned) => {
        await scenario(planned);
      }),
      { numRuns: RUNS, seed: 20_260_131 },
    );
  });
});
