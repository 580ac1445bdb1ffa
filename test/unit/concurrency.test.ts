import { expect, it, vi } from 'vitest';
import { allDone, createLimiter } from '../../lib/concurrency.ts';

const settle = () => new Promise((resolve) => setImmediate(resolve));

it('a limiter runs at most the limit concurrently, in order, also after a failure', async () => {
  const limited = createLimiter(2);
  const begun: number[] = [];
  const ends = [0, 1, 2, 3].map(() => Promise.withResolvers<void>());
  const run = ({ promise }: (typeof ends)[number], i: number) =>
    limited(() => {
      begun.push(i);
      return promise;
    });
  const all = Promise.allSettled(ends.map(run));
  await settle();
  expect(begun).toEqual([0, 1]);
  ends[1]?.reject(new Error('failed'));
  await settle();
  expect(begun).toEqual([0, 1, 2]);
  for (const { resolve } of ends) resolve();
  expect((await all).map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled', 'fulfilled']);
  expect(begun).toEqual([0, 1, 2, 3]);
});

it('throws the first failure only when all work is done, because Lambda freezes work that is still running', async () => {
  const { promise, resolve } = Promise.withResolvers<void>();
  const settled = vi.fn();
  const done = allDone([Promise.reject(new Error('first')), promise]).catch(settled);
  await settle();
  expect(settled).not.toHaveBeenCalled();
  resolve();
  await done;
  expect(settled).toHaveBeenCalledExactlyOnceWith(new Error('first'));
});
