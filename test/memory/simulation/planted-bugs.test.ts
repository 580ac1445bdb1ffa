import { Worker } from 'node:worker_threads';
import { describe, expect, it } from 'vitest';
import { createLimiter } from '../../../lib/concurrency.ts';
import type { Part, Progress } from './main.ts';
import { type Invariant, PLANTED_BUGS } from './planted-bugs.ts';

/** The number of schedules within which every bug is found. Changes of the code move the seeds. */
const BUG_SCHEDULES = 40_000;
/** The number of threads. */
const AT_ONCE = 2;
/** All searches start together and wait for a thread, so each of them can end as late as the last one. */
const ALL_SEARCHES_MS = 60 * 60 * 1000;

/** Runs schedules of a service with a bug until it breaks the promise. */
const search = (broken: Invariant): Promise<Progress> =>
  new Promise((resolve, reject) => {
    const part: Part = { from: PLANTED_BUGS[broken].seed, seeds: BUG_SCHEDULES, broken };
    const worker = new Worker(new URL('./main.ts', import.meta.url), { workerData: part });
    let last: Progress;
    worker.on('message', (report: Progress) => {
      last = report;
    });
    worker.on('error', reject).on('exit', () => resolve(last));
  });

describe.concurrent('a service with a planted bug', () => {
  const limited = createLimiter(AT_ONCE);

  it.each(Object.keys(PLANTED_BUGS) as Invariant[])(
    'breaks "%s"',
    async (promise) => {
      const { failed } = await limited(() => search(promise));
      expect(failed?.message ?? `No promise was broken in ${BUG_SCHEDULES} schedules`).toContain(promise);
    },
    ALL_SEARCHES_MS,
  );
});
