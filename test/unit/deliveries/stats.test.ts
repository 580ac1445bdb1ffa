import { describe, expect, it } from 'vitest';
import { barsOf, histogramOfBars, LATENCY_BOUNDS_MS, latencyPercentile } from '../../../lib/deliveries/latency.ts';
import type { DeliveryRecord } from '../../../lib/deliveries/record.ts';
import { type DeliveryChange, sumOf, tally } from '../../../lib/deliveries/stats.ts';
import { attempt, now, record } from './builders.ts';

const HOUR_MS = 60 * 60 * 1000;
const change = (after: DeliveryRecord, before?: DeliveryRecord, overrides: Partial<DeliveryChange> = {}) => ({
  before,
  after,
  sequence: '1',
  ...overrides,
});
/** Returns the counts that a change adds to its hour. */
const counted = (after: DeliveryRecord, before?: DeliveryRecord) =>
  sumOf(tally([change(after, before)]).find(({ period }) => period === 'hour')?.entries ?? []);

const delivered = attempt({ statusCode: 200, error: null, durationMs: 42 });
const failing = record({ attempts: [attempt()] });

describe('a change of a delivery', () => {
  it.each<[string, DeliveryRecord, DeliveryRecord | undefined, object]>([
    ['a success', record({ status: 'succeeded', attempts: [delivered] }), undefined, { delivered: 1, le_50: 1 }],
    ['a failure', failing, undefined, { attempts_failed: 1 }],
    [
      'the first attempt of a new run',
      record({ run: 1, attempts: [attempt(), attempt({ at: now + 1 })] }),
      record({ run: 1, attempt: 0, attempts: [attempt()] }),
      { attempts_failed: 1 },
    ],
    [
      'the last failure',
      record({ status: 'failed', attempt: 6, attempts: [attempt({ number: 5 }), attempt({ number: 6 })] }),
      record({ attempt: 5, attempts: [attempt({ number: 5 })] }),
      { attempts_failed: 1, failed: 1 },
    ],
    ['a retry that is queued', failing, record({ attempts: [attempt()], retryPending: true }), {}],
    ['a new run', record({ run: 1, attempt: 0, attempts: [attempt()] }), failing, {}],
    [
      'a new run that leaves out the oldest attempt',
      record({ run: 1, attempt: 0, attempts: [attempt({ number: 2 })] }),
      record({ attempts: [attempt(), attempt({ number: 2 })] }),
      {},
    ],
    ['an event that was skipped', record({ status: 'skipped', attempt: 0 }), undefined, { skipped: 1 }],
    ['a retry that was canceled', record({ status: 'canceled', attempts: [attempt()] }), failing, { canceled: 1 }],
    [
      'a run whose event expired',
      record({ status: 'failed', run: 1, attempts: [attempt()] }),
      record({ status: 'pending', run: 1, attempts: [attempt()] }),
      { failed: 1 },
    ],
    ['a test', record({ status: 'failed', test: true, attempts: [attempt({ trigger: 'test' })] }), undefined, {}],
  ])('counts %s', (_, after, before, stats) => {
    const named = Object.entries(stats).map(([name, count]) => [`document_deleted_${name}`, count]);
    expect(counted(after, before)).toEqual(Object.fromEntries(named));
  });

  it.each([
    [5, 5],
    [6, 10],
    [60_000, 5000],
  ])('counts a success in %d ms in the bucket up to %d', (durationMs, bound) => {
    const after = record({ status: 'succeeded', attempts: [{ ...delivered, durationMs }] });
    expect(counted(after)[`document_deleted_le_${bound}`]).toBe(1);
  });
});

it('the changes of a batch are added up by webhook, hour and day, with each attempt in its own hour', () => {
  const at = (ms: number, webhookId = 'whk_1') =>
    change(record({ webhookId, attempts: [attempt({ at: ms })] }), undefined, { sequence: String(ms) });
  const found = tally([at(now), at(now + 1), at(now + HOUR_MS), at(now, 'whk_2')]);
  expect(
    found.map(({ webhookId, period, start, entries }) => [webhookId, period, start - now, entries.length]),
  ).toEqual([
    ['whk_1', 'hour', 0, 2],
    ['whk_1', 'day', -12 * HOUR_MS, 3],
    ['whk_1', 'hour', HOUR_MS, 1],
    ['whk_2', 'hour', 0, 1],
    ['whk_2', 'day', -12 * HOUR_MS, 1],
  ]);
  expect(found[0]?.entries.map(({ sequence }) => sequence)).toEqual([String(now), String(now + 1)]);
});

it('the first hour of a day and the day itself are different, although they start at the same time', () => {
  const midnight = Date.UTC(2026, 1, 1);
  const found = tally([change(record({ attempts: [attempt({ at: midnight })] }))]);
  expect(found.map(({ period, start, entries }) => [period, start, entries.length])).toEqual([
    ['hour', midnight, 1],
    ['day', midnight, 1],
  ]);
});

it('counts a delivery without an attempt when its run ends', () => {
  const [hour] = tally([change(record({ status: 'skipped', attempt: 0, endedAt: now + HOUR_MS + 1 }))]);
  expect(hour?.start).toBe(now + HOUR_MS);
});

it('counts each run that ended without an attempt once', () => {
  const skipped = record({ status: 'skipped', attempt: 0 });
  expect(counted(skipped, skipped)).toEqual({});
  expect(counted({ ...skipped, run: 1 }, skipped)).toEqual({ document_deleted_skipped: 1 });
  expect(counted({ ...skipped, status: 'canceled' }, skipped)).toEqual({ document_deleted_canceled: 1 });
});

const histogram = (counts: Partial<Record<number, number>>) => LATENCY_BOUNDS_MS.map((bound) => counts[bound] ?? 0);

it.each([
  [{}, 0.5, null],
  [{ 10: 1 }, 0.99, 10],
  [{ 10: 50, 5000: 50 }, 0.5, 10],
  [{ 10: 49, 5000: 51 }, 0.5, 5000],
  [{ 10: 95, 100: 4, 5000: 1 }, 0.99, 100],
])('a percentile of %j at %d is %s', (counts, share, bound) => {
  expect(latencyPercentile(histogram(counts), share)).toBe(bound);
});

it('the bars of histograms add up to one histogram', () => {
  const bars = [{ 10: 3 }, { 10: 1, 5000: 1 }].flatMap((counts) => barsOf(histogram(counts)));
  expect(histogramOfBars(bars)).toEqual(histogram({ 10: 4, 5000: 1 }));
  expect(histogramOfBars([])).toEqual(histogram({}));
});
