import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { planted } from './plant.ts';
import { PLANTED_BUGS } from './planted-bugs.ts';
import { runSchedule, shrink } from './scenario.ts';

/** Takes a few seconds. `npm run simulate` runs millions of schedules. */
const SCHEDULES = 300;
/** One schedule in ten publishes a batch, whose ids must be repeatable. */
const REPEATED = 20;

describe('any schedule', () => {
  const from = Math.floor(Math.random() * 2 ** 31);

  it(`keeps every promise (${SCHEDULES} schedules from seed ${from})`, async () => {
    for (let seed = from; seed < from + SCHEDULES; seed++) {
      const { violation } = await runSchedule({ seed });
      if (!violation) continue;
      throw new Error(`${violation.message}: npm run simulate -- ${await shrink(seed)}`);
    }
  });

  it(`is exactly repeatable (${REPEATED} schedules from seed ${from})`, async () => {
    for (let seed = from; seed < from + REPEATED; seed++) {
      const first = await runSchedule({ seed, isTold: true });
      const second = await runSchedule({ seed, isTold: true });
      expect(second.story).toEqual(first.story);
      expect(first.story).not.toEqual([]);
    }
  });
});

it.each(Object.entries(PLANTED_BUGS))('can plant the bug that breaks "%s"', (_, bug) => {
  const text = readFileSync(bug.file, 'utf8');
  expect(planted(bug, text)).not.toBe(text);
});
