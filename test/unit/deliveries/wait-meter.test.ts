import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { QUICK_WITHIN_MS } from '../../../lib/deliveries/lanes.ts';
import { waitMeter } from '../../../lib/deliveries/wait-meter.ts';

/** More than the events of an attempt that one after another wait for the CPU: names, connection, TLS and response. */
const STEPS_OF_ATTEMPT = 10;

it('counts the wait of an idle event loop', async () => {
  const waited = await new Promise((resolve) => waitMeter()(resolve));
  expect(waited).toBe(100);
});

describe('the wait of an attempt', () => {
  beforeEach(() => void vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] }));
  afterEach(() => void vi.useRealTimers());

  /** Starts an attempt. Before each of its beats, the event loop is idle for some time. A late beat has more of it than others. */
  function attempt() {
    let idleMs = 1000;
    const startWait = waitMeter(() => idleMs);
    const ticks: number[] = [];
    const end = startWait((waitedMs) => ticks.push(waitedMs));
    return {
      ...{ startWait, ticks, end },
      beats(count: number, idleOfBeatMs: number) {
        for (let i = 0; i < count; i++) {
          idleMs += idleOfBeatMs;
          vi.advanceTimersByTime(20);
        }
      },
    };
  }

  it.each([
    ['an idle function', 15, 20, 300],
    ['a busy function', 250, 0, 0],
    ['a function that is busy for most of the time', 15, 4, 60],
    ['a function that did not get the CPU for a second', 1, 1000, 20],
  ])('is counted by %s', (_, beats, idleMs, waitedMs) => {
    const { end, ...own } = attempt();
    own.beats(beats, idleMs);
    expect(end()).toBe(waitedMs);
  });

  it.each([0, 20, 40, 100, 500])('is short for a quick endpoint if every event is handled %i ms late', (lateMs) => {
    const { end, ticks, beats } = attempt();
    beats(STEPS_OF_ATTEMPT, 20 + lateMs);
    expect(end()).toBeLessThan(QUICK_WITHIN_MS);
    expect(ticks).not.toContain(QUICK_WITHIN_MS);
  });

  it.each([0, 20, 40, 100, 500])('is overdue without a response if every beat is %i ms late', (lateMs) => {
    const { ticks, beats } = attempt();
    beats(15, 20 + lateMs);
    expect(ticks).toEqual([100, 200, QUICK_WITHIN_MS]);
  });

  it('begins with the attempt', () => {
    const { startWait, beats } = attempt();
    beats(10, 20);
    const end = startWait();
    beats(1, 20);
    expect(end()).toBe(20);
  });

  it('needs one timer for all attempts, which stops with the last one', () => {
    const { startWait, end, beats, ticks } = attempt();
    const others = [startWait(), startWait()];
    expect(vi.getTimerCount()).toBe(1);
    expect(others.map((endOther) => endOther())).toEqual([0, 0]);
    beats(5, 20);
    expect([end(), vi.getTimerCount()]).toEqual([100, 0]);
    beats(5, 20);
    expect(ticks).toEqual([100]);
  });
});
