import { expect, it } from 'vitest';
import { runSchedule } from '../../memory/simulation/scenario.ts';

/** Enough for every kind of action and fault, but few, because they run for each mutant. */
const SCHEDULES = 40;

it('keeps every promise in the first schedules', async () => {
  for (let seed = 1; seed <= SCHEDULES; seed++) expect((await runSchedule({ seed })).violation).toBeUndefined();
});
