import { describe, expect, it } from 'vitest';
import { SABOTAGES } from './sabotages.ts';
import { runSchedule, shrink } from './scenario.ts';

/** Of the whole suite's time a few seconds; `npm run simulate` runs millions. */
const SCHEDULES = 1000;
/** Within so many schedules every sabotage is found. */
const SABOTAGE_SCHEDULES = 20_000;

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
    expect(first.steps).toBeGreaterThan(10);
  });
});

describe('a service that is sabotaged', () => {
  it.each(Object.entries(SABOTAGES))('is found out: %s', { timeout: 240_000 }, async (_, sabotage) => {
    for (let seed = 1; seed <= SABOTAGE_SCHEDULES; seed++) {
      const { violation } = await runSchedule({ seed, sabotage });
      if (violation) return;
    }
    throw new Error(`No promise was broken in ${SABOTAGE_SCHEDULES} schedules`);
  });
});
