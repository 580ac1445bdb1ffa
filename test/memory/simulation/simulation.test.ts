import { describe, expect, it } from 'vitest';
import { SABOTAGES } from './sabotages.ts';
import { runSchedule, shrink } from './scenario.ts';

/** Of the whole suite's time a few seconds; `npm run simulate` runs millions. */
const SCHEDULES = 500;
/** One in ten publishes a batch, whose ids must be the same again. */
const REPEATED = 100;
/** Within so many schedules every sabotage is found. */
const SABOTAGE_SCHEDULES = 20_000;
/** Where the search for those begins that `npm run simulate -- --sabotage NAME` finds late: a little before. */
const LATE: Record<string, number> = {
  'a lease that is renewed while it ends is not looked at again': 8964,
  'a revoked token works on': 7662,
  'a redelivery that could not be queued is taken for done': 3813,
  'a message that another run is at work on is done': 3112,
  'the last admin key can be revoked': 1361,
  'an email that failed is not sent again': 1223,
  'the email is sent before it is claimed': 4630,
  'the events of a repeated batch are new ones': 432,
  'a revoked key works on': 1466,
  'a rotated key works on for ever': 308,
  'a recovery ends with its first page': 226,
  'old secrets sign for good': 177,
  'a sync passes over deleted documents': 160,
  'a sync cycle completes again': 939,
  'a warning that failed is not sent again': 131,
  'a document is saved over what others wrote': 128,
  'a rotated key ends at once': 95,
  'the email is not noted as sent': 1358,
  'a key is rotated twice': 67,
  'a connection is stored before its check is queued': 67,
  'a webhook is disabled twice': 286,
  'a failed delivery is acknowledged': 55,
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

  it(`happens again as it happened (${REPEATED} schedules from seed ${from})`, async () => {
    for (let seed = from; seed < from + REPEATED; seed++) {
      const first = await runSchedule({ seed, isTold: true });
      const second = await runSchedule({ seed, isTold: true });
      expect(second.story).toEqual(first.story);
      expect(first.steps).toBeGreaterThan(0);
    }
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
