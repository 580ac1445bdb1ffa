import { describe, expect, it } from 'vitest';
import { SABOTAGES } from './sabotages.ts';
import { runSchedule, shrink } from './scenario.ts';

/** Of the whole suite's time a few seconds; `npm run simulate` runs millions. */
const SCHEDULES = 500;
/** Within so many schedules every sabotage is found. */
const SABOTAGE_SCHEDULES = 20_000;
/** Where the search for those begins that `npm run simulate -- --sabotage NAME` finds late: a little before. */
const LATE: Record<string, number> = {
  'a revoked token works on': 9100,
  'the last admin key can be revoked': 2200,
  'a redelivery that could not be queued is taken for done': 1940,
  'a recovery ends with its first page': 910,
  'the email is sent before it is claimed': 860,
  'a webhook is disabled twice': 640,
  'a sync cycle completes again': 630,
  'the events of a repeated batch are new ones': 430,
  'an attempt that is recorded already ends the message': 5000,
  'a revoked key works on': 370,
  'a rotated key works on for ever': 310,
  'schedules of different attempts have one name': 180,
  'old secrets sign for good': 180,
  'a rotated key ends at once': 95,
  'the email is not noted as sent': 5080,
};

describe('any schedule', () => {
  const from = Math.floor(Math.random() * 2 ** 31);

  it(`keeps every promise (${SCHEDULES} schedules from seed ${from})`, async () => {
    for (let seed = from; seed < from + SCHEDULES; seed++) {
      const { violation } = await runSchedule({ seed });
      if (!violation) continue;
      const { maxFaults, maxActions } = await shrink({ seed });
      const options = `--seed ${seed} --faults ${maxFaults} --actions ${maxActions}`;
      throw new Error(`${violation.message}: npm run simulate -- ${options}`);
    }
  });

  it('happens again as it happened', async () => {
    const [first, second] = await Promise.all([
      runSchedule({ seed: from, isTold: true }),
      runSchedule({ seed: from, isTold: true }),
    ]);
    expect(second.story).toEqual(first.story);
    expect(first.steps).toBeGreaterThan(0);
  });
});

describe('a service that is sabotaged', () => {
  it.each(Object.entries(SABOTAGES))('is found out: %s', { timeout: 240_000 }, async (name, sabotage) => {
    const from = LATE[name] ?? 1;
    for (let seed = from; seed < from + SABOTAGE_SCHEDULES; seed++) {
      const { violation } = await runSchedule({ seed, sabotage });
      if (violation) return;
    }
    throw new Error(`No promise was broken in ${SABOTAGE_SCHEDULES} schedules`);
  });
});
