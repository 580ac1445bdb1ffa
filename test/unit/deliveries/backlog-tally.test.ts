import { describe, expect, it } from 'vitest';
import { backlogSince, backlogTally } from '../../../lib/deliveries/backlog-tally.ts';
import type { DeliveryRecord } from '../../../lib/deliveries/record.ts';
import { sortableId } from '../../../lib/ids.ts';
import { now, record } from './builders.ts';

const HOUR_MS = 60 * 60 * 1000;
const DAY_MS = 24 * HOUR_MS;
const idAt = (at: number) => sortableId('evt', at, () => new Uint8Array(10));
/** A delivery of an event at 12:00. */
const delivery = (overrides: Partial<DeliveryRecord> = {}) => record({ eventId: idAt(now), ...overrides });

describe('the backlog of a webhook', () => {
  const pending = delivery({ status: 'pending' });
  const retrying = delivery();
  const failed = delivery({ status: 'failed' });
  const skipped = delivery({ status: 'skipped', reason: 'disabled' });
  const paused = delivery({ status: 'skipped', reason: 'paused' });
  const canceled = delivery({ status: 'canceled', reason: 'paused' });
  const succeeded = delivery({ status: 'succeeded' });

  it.each<[string, DeliveryRecord | undefined, DeliveryRecord, object | undefined]>([
    ['gains a delivery whose first attempt failed', undefined, retrying, { retrying_12: 1 }],
    ['keeps one whose second attempt failed', retrying, delivery({ attempt: 2 }), undefined],
    ['loses one that a retry delivered', retrying, succeeded, { retrying_12: -1 }],
    ['counts one as missed after its last failure', retrying, failed, { retrying_12: -1, missed_12: 1 }],
    ['counts a skipped one as missed', undefined, skipped, { missed_12: 1 }],
    ['counts a skipped one without a reason as missed', undefined, delivery({ status: 'skipped' }), { missed_12: 1 }],
    ['counts one that a pause skipped as paused', undefined, paused, { paused_12: 1 }],
    ['counts one that a pause canceled as paused', retrying, canceled, { retrying_12: -1, paused_12: 1 }],
    ['loses one when a new run starts', paused, pending, { paused_12: -1 }],
    ['gains nothing from a success', undefined, succeeded, undefined],
    ['gains nothing from a test', undefined, delivery({ status: 'failed', test: true }), undefined],
  ])('%s', (_, before, after, counts) => {
    const tallies = backlogTally([{ before, after, sequence: '7' }]);
    const start = now - 12 * HOUR_MS;
    expect(tallies).toEqual(counts ? [{ webhookId: 'whk_1', start, entries: [{ sequence: '7', counts }] }] : []);
  });

  it('has one write for each webhook and day of the events', () => {
    const after = (at: number, webhookId: string) => delivery({ status: 'failed', eventId: idAt(at), webhookId });
    const changes = [
      [now, 'whk_1'],
      [now + HOUR_MS, 'whk_1'],
      [now + DAY_MS, 'whk_1'],
      [now, 'whk_2'],
    ] as const;
    const tallies = backlogTally(
      changes.map(([at, id], i) => ({ before: undefined, after: after(at, id), sequence: String(i) })),
    );
    expect(tallies.map(({ webhookId, entries }) => [webhookId, entries.map(({ sequence }) => sequence)])).toEqual([
      ['whk_1', ['0', '1']],
      ['whk_1', ['2']],
      ['whk_2', ['3']],
    ]);
  });

  it('ends with the events, to the hour, and is never negative', () => {
    const day = now - 12 * HOUR_MS;
    const counts = { missed_11: 1, missed_12: 2, paused_12: 4, paused_13: 8, retrying_23: 16 };
    const days = [{ start: day, counts }];
    const all = { undelivered: 15, undelivered_paused: 12, retrying: 16 };
    expect(backlogSince(days, day)).toEqual(all);
    expect(backlogSince(days, now + HOUR_MS - 1)).toEqual({ ...all, undelivered: 14 });
    expect(backlogSince(days, now + HOUR_MS)).toEqual({ ...all, undelivered: 8, undelivered_paused: 8 });
    expect(backlogSince(days, day + DAY_MS)).toEqual({ undelivered: 0, undelivered_paused: 0, retrying: 0 });
    const negative = [{ start: day, counts: { missed_1: -1, retrying_1: -1 } }];
    expect(backlogSince(negative, day)).toEqual({ undelivered: 0, undelivered_paused: 0, retrying: 0 });
    // Counts that a restore lost change no other hour.
    expect(backlogSince([{ start: day, counts: { missed_1: -1, missed_2: 3 } }], day).undelivered).toBe(3);
  });
});
