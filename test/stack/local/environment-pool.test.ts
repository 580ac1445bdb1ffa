import { availableParallelism } from 'node:os';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { CpuMeter } from '../../../infra/local/lambda/cpu-meter.ts';
import { EnvironmentPool, type PoolOptions } from '../../../infra/local/lambda/environment-pool.ts';
import type { ExecutionEnvironment } from '../../../infra/local/lambda/execution-environment.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

/** A pool whose environments start immediately and never become free. */
function poolWith(options: Partial<PoolOptions>) {
  const start = () => ({ ready: Promise.resolve(), stop: async () => {} }) as ExecutionEnvironment;
  return new EnvironmentPool({ maxSize: 8, idleMs: 60_000, isCpuBusy: () => false, start, ...options });
}

describe('a pool whose environments all hang', () => {
  it.each([
    ['four a second', false, 5],
    ['one in three seconds while the CPUs are busy', true, 1],
  ])('starts %s', async (_, isBusy, size) => {
    const pool = poolWith({ isCpuBusy: () => isBusy });
    for (let i = 0; i < 8; i++) void pool.acquire();
    await vi.advanceTimersByTimeAsync(1100);
    expect(pool.size).toBe(size);
    await vi.advanceTimersByTimeAsync(6000);
    expect(pool.size).toBe(isBusy ? 3 : 8);
  });

  it('starts no spare environment while the CPUs are busy', async () => {
    let isBusy = true;
    const pool = poolWith({ keepsSpare: true, isCpuBusy: () => isBusy });
    void pool.acquire();
    await vi.advanceTimersByTimeAsync(1000);
    expect(pool.size).toBe(1);
    isBusy = false;
    void pool.acquire();
    await vi.advanceTimersByTimeAsync(100);
    expect(pool.size).toBe(3);
  });
});

describe('the meter of CPU time', () => {
  it.each([
    [0.8, true],
    [0.6, false],
  ])('reports a share of %f of all CPUs as busy: %s', async (share, isBusy) => {
    const spy = vi.spyOn(process, 'cpuUsage').mockReturnValue({ user: 0, system: 0 });
    const meter = new CpuMeter();
    const usedMicroseconds = 1000 * 1000 * availableParallelism() * share;
    spy.mockReturnValue({ user: usedMicroseconds / 2, system: usedMicroseconds / 2 });
    await vi.advanceTimersByTimeAsync(1000);
    expect(meter.isBusy()).toBe(isBusy);
    await vi.advanceTimersByTimeAsync(100);
    expect(meter.isBusy()).toBe(isBusy); // too early for another measurement
    await vi.advanceTimersByTimeAsync(200);
    expect(meter.isBusy()).toBe(false);
    spy.mockRestore();
  });
});
