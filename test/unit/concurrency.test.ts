import { describe, expect, it, vi } from 'vitest';
import { allDone, createLimiter } from '../../lib/concurrency.ts';

const settle = () => new Promise((resolve) => setImmediate(resolve));

describe('a limiter', () => {
  it('runs at most the limit concurrently, in order, also after a failure', async () => {
    const limited = createLimiter(2);
    const begun: number[] = [];
    const ends: ((error?: Error) => void)[] = [];
    const all = [0, 1, 2, 3].map((i) =>
      limited(() => {
        begun.push(i);
        return new Promise<number>((resolve, reject) => {
          ends[i] = (error) => (error ? reject(error) : resolve(i));
        });
      }).catch((error: Error) => error.message),
    );
    await settle();
    expect(begun).toEqual([0, 1]);
    ends[1]?.(new Error('failed'));
    await settle();
    expect(begun).toEqual([0, 1, 2]);
    ends[0]?.();
    await settle();
    expect(begun).toEqual([0, 1, 2, 3]);
    ends[2]?.();
    ends[3]?.();
    expect(await Promise.all(all)).toEqual([0, 'failed', 2, 3]);
  });
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
