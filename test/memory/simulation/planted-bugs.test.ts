import { Worker } from 'node:worker_threads';
import { describe, expect, it } from 'vitest';
import { createLimiter } from '../../../lib/concurrency.ts';
import type { Part, Progress } from './main.ts';
import { PLANTED_BUGS, type PlantedBug } from './planted-bugs.ts';

/** The number of schedules within which every bug is found. Changes of the code move the seeds. */
const BUG_SCHEDULES = 20_000;
/** The number of threads. */
const AT_ONCE = 2;

/** Runs schedules of a service with a bug until its promise is broken. */
const search = (bug: PlantedBug): Promise<Progress> =>
  new Promise((resolve, reject) => {
    const part: Part = { from: bug.seed ?? 1, seeds: BUG_SCHEDULES, bug };
    const worker = new Worker(new URL('./main.ts', import.meta.url), { workerData: part });
    let last: Progress;
    worker.on('message', (report: Progress) => {
      last = report;
    });
    worker.on('error', reject).on('exit', () => resolve(last));
  });

describe.concurrent('a service with a planted bug', () => {
  const limited = createLimiter(AT_ONCE);

  it.each(
    PLANTED_BUGS.map((bug) => [bug.promise, bug.name, bug] as const),
  )('breaks "%s": %s', async (promise, _, bug) => {
    const { failed } = await limited(() => search(bug));
    expect(failed?.message ?? `No promise was broken in ${BUG_SCHEDULES} schedules`).toContain(promise);
  });
});
