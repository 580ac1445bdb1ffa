import { describe, expect, it } from 'vitest';
import { update } from '../../../lib/aws/expressions.ts';
import { itemKey } from '../../../lib/aws/items.ts';
import {
  hindranceOf,
  pageMessage,
  type RecoveryRecord,
  recoveryResource,
  STALLED_AFTER_MS,
  STARTING_MS,
} from '../../../lib/deliveries/recovery-record.ts';
import { recoveryTally } from '../../../lib/deliveries/recovery-tally.ts';
import { isRecoverable, stuckBefore, windowOf } from '../../../lib/deliveries/recovery-window.ts';
import { EVENT_RETENTION_MS } from '../../../lib/events/event.ts';
import { derivedFrom, sortableId } from '../../../lib/ids.ts';
import { iso } from '../../../lib/schema.ts';
import { DAY_MS, newId, retrying } from '../../memory/contracts/builders.ts';
import { now, record, space, webhook } from './builders.ts';
import { laneFunction } from './lane.ts';

it.each([
  ['succeeded while the index is late', { status: 'succeeded' }],
  ['is a test', { status: 'failed', test: true }],
  ['is due for exactly a day', { status: 'retrying', nextAttemptAt: now - DAY_MS }],
  ['it started itself', { status: 'failed', recovery: 'rec_1' }],
] as const)('a recovery leaves out a delivery that %s', (_, overrides) => {
  expect(isRecoverable(record(overrides), { stuckBefore: stuckBefore(now), recoveryId: 'rec_1' })).toBe(false);
});

it('a recovery covers by default what ended since a minute before the outage, because clocks differ', () => {
  const all = { since: now - EVENT_RETENTION_MS, until: now + 60_000 };
  const failing = webhook({ undeliveredSince: now });
  expect(windowOf(failing, {}, now)).toEqual({ ...all, endedSince: now - 60_000 });
  expect(windowOf(failing, { until: now }, now)).toEqual({ ...all, until: now, endedSince: now - 60_000 });
  expect(windowOf(webhook(), {}, now)).toEqual(all);
});

const stored = (overrides: Partial<RecoveryRecord> = {}): RecoveryRecord => ({
  id: 'rec_1',
  since: now - DAY_MS,
  until: now + 60_000,
  perSecond: 2,
  startedAt: now,
  page: 0,
  progressAt: now,
  ...overrides,
});

describe('a recovery in a response', () => {
  const shown = (recovery: Partial<RecoveryRecord>, of: object = { recoveryId: 'rec_1' }) =>
    recoveryResource(stored(recovery), of);

  it('has the window that applies, without the margin for clocks', () => {
    expect(shown({})).toMatchObject({ started_at: iso(now), since: iso(now - DAY_MS), until: iso(now) });
    expect(shown({ endedSince: now - 5, until: now - 2 })).toMatchObject({ since: iso(now - 5), until: iso(now - 2) });
  });

  it('ends with its last page, when it is stopped, or when its webhook is disabled', () => {
    expect(shown({}).ended_at).toBeNull();
    expect(shown({ endedAt: now + 1 }).ended_at).toBe(iso(now + 1));
    expect(shown({}, { disabledAt: now + 2 }).ended_at).toBe(iso(now + 2));
    expect(shown({ progressAt: now + 3 }, { recoveryId: 'rec_2' }).ended_at).toBe(iso(now + 3));
  });
});

const current = stored();
it.each([
  ['starts when no other one is running', 'enabled', undefined, false, 0, undefined],
  ['needs an enabled webhook', 'disabled', undefined, false, 0, 'webhook disabled'],
  ['can enable its webhook', 'disabled', undefined, true, 0, undefined],
  ['waits for the end of another one', 'enabled', current, false, 0, 'recovery running'],
  ['waits for another one also if it would enable its webhook', 'enabled', current, true, 0, 'recovery running'],
  ['waits while a message of another one can arrive', 'enabled', current, false, STALLED_AFTER_MS, 'recovery running'],
  ['ends another one that is stalled', 'enabled', current, false, STALLED_AFTER_MS + 1, { stalled: current }],
] as const)('a recovery %s', (_, status, running, isEnabling, laterMs, expected) => {
  expect(hindranceOf({ status }, running, isEnabling, now + laterMs)).toEqual(expected);
});

describe('the counts of a recovery', () => {
  const own = { recovery: 'rec_1', run: 1 };
  const pending = record({ ...own, status: 'pending' });

  it.each([
    ['the start of a run', record(), pending, { sent: 1 }],
    [
      'a run that records its first attempt before its start',
      record(),
      record({ ...own, status: 'retrying' }),
      { sent: 1, failed: 1 },
    ],
    [
      'a run that records its success before its start',
      undefined,
      record({ ...own, status: 'succeeded' }),
      { sent: 1, delivered: 1 },
    ],
    ['a success', pending, record({ ...own, status: 'succeeded' }), { delivered: 1 }],
    ['a first attempt that failed', pending, record({ ...own }), { failed: 1 }],
    ['a second attempt that failed', record({ ...own }), record({ ...own, attempt: 2 }), {}],
    [
      'a success after retries',
      record({ ...own }),
      record({ ...own, status: 'succeeded' }),
      { delivered: 1, failed: -1 },
    ],
    ['a run that failed after its retries', record({ ...own }), record({ ...own, status: 'failed' }), {}],
    ['a run whose event expired', pending, record({ ...own, status: 'failed' }), { failed: 1 }],
    ['a run that was canceled', pending, record({ ...own, status: 'canceled' }), { failed: 1 }],
    ['a run that was skipped', pending, record({ ...own, status: 'skipped' }), { failed: 1 }],
    [
      'a redelivery that replaces the run',
      record({ ...own }),
      record({ ...own, run: 2, status: 'pending' }),
      { failed: -1 },
    ],
    ['a retry that is queued', record({ ...own, retryPending: true }), record({ ...own }), {}],
    ['a redelivery after the end', record({ ...own, status: 'failed' }), record({ run: 2, status: 'pending' }), {}],
  ])('contain %s once', (_, before, after, counts) => {
    const [tally] = recoveryTally([{ before, after, sequence: '1' }]);
    const expected = { sent: 0, delivered: 0, failed: 0, ...counts };
    const entries = [{ sequence: '1', counts: expected }];
    expect(tally).toEqual(
      Object.keys(counts).length > 0 ? { webhookId: 'whk_1', recoveryId: 'rec_1', entries } : undefined,
    );
  });

  it('are separate for each recovery', () => {
    const started = (recovery: string, sequence: string) => ({
      before: record(),
      after: record({ run: 1, recovery }),
      sequence,
    });
    const tallies = recoveryTally([started('rec_1', '1'), started('rec_2', '2'), started('rec_1', '3')]);
    expect(tallies.map(({ recoveryId, entries }) => [recoveryId, ...entries.map(({ sequence }) => sequence)])).toEqual([
      ['rec_1', '1', '3'],
      ['rec_2', '2'],
    ]);
  });
});

describe('a page of a recovery', () => {
  const throttled = new Error('throttled');
  const page = (recovery: Pick<RecoveryRecord, 'id' | 'page'>) => pageMessage({ ...space, id: 'whk_1' }, recovery);

  /** A lane with failed deliveries, newest first, and a recovery of them with two deliveries per page. */
  async function withFailures(count: number, overrides: Partial<RecoveryRecord> = {}) {
    const own = await laneFunction();
    const ids = Array.from({ length: count }, (_, i) => newId('evt', now - i));
    for (const [i, eventId] of ids.entries()) await own.record(6, { status: 'failed' }, { eventId, run: i });
    const recovery = await own.startRecovery({ perSecond: 2, ...overrides });
    const runs = async () => (await own.log.ofWebhook('whk_1', ids)).map(({ status, run }) => `${status} ${run}`);
    const sent = (what: 'recover' | 'eventId') => own.sent().filter(({ body }) => what in body);
    return { own, ids, runs, sent, recovery, first: page(recovery), next: page({ ...recovery, page: 1 }) };
  }

  it('starts runs that contain the recovery, and queues the next page a second later', async () => {
    const { own, ids, sent, recovery, first, next } = await withFailures(3);
    expect(await own.run(first)).toEqual([]);
    const run = { eventId: ids[0], run: 1, attempt: 1, trigger: 'recovery', recovery: recovery.id };
    expect(sent('eventId')).toMatchObject([{ lane: 'quick', body: run }, { lane: 'quick' }]);
    expect(sent('recover')).toEqual([{ lane: 'quick', group: 'prj_1#live', delaySeconds: 1, body: next }]);
    expect(await own.delivery(ids[0])).toMatchObject({ status: 'pending', run: 1, recovery: recovery.id });
    expect(await own.recovery()).toMatchObject({ page: 1, from: { status: 'failed', after: ids[1] }, progressAt: now });
    expect(await own.recovery()).not.toHaveProperty('nextPending');
  });

  it('ends the recovery after the last delivery', async () => {
    const { own, runs, sent, first, next } = await withFailures(1);
    expect(await own.run(first)).toEqual([]);
    expect(await own.recovery()).not.toHaveProperty('endedAt'); // other statuses follow
    own.time = now + 7;
    expect(await own.run(next)).toEqual([]);
    expect([await runs(), sent('recover')]).toMatchObject([['pending 1'], [{ body: next }]]);
    expect(await own.recovery()).toMatchObject({ endedAt: now + 7 });
    expect(own.named('recovery.ended')).toMatchObject([
      { webhook_id: 'whk_1', recovery_id: (await own.recovery())?.id },
    ]);
  });

  it('finds a retry that is more than a day late', async () => {
    const own = await laneFunction();
    const eventId = newId('evt', now);
    await own.record(1, retrying, { eventId });
    for (const late of [0, 1]) {
      const recovery = await own.startRecovery({ id: `rec_${late}` });
      own.time = now + 60_000 + DAY_MS + late;
      await own.run(page(recovery));
      expect((await own.log.get('whk_1', eventId))?.run).toBe(late);
    }
  });

  it('has the pace of the request, or the limit of the webhook if that is lower now', async () => {
    const { own, runs, first, next } = await withFailures(3);
    await own.change({ maxPerSecond: 1 });
    await own.run(first);
    expect(await runs()).toEqual(['pending 1', 'failed 1', 'failed 2']);
    await own.change({ maxPerSecond: 500 });
    await own.run(next);
    expect(await runs()).toEqual(['pending 1', 'pending 2', 'pending 3']);
  });

  it('records no run if the messages could not be sent', async () => {
    const { own, runs, recovery, first } = await withFailures(2);
    own.fault = ({ name }) => {
      if (name === 'SendMessageBatch') throw throttled;
    };
    expect(await own.run(first)).toEqual([0]);
    expect(await runs()).toEqual(['failed 0', 'failed 1']);
    const fields = { project_id: 'prj_1', environment: 'live', webhook_id: 'whk_1', recovery_id: recovery.id };
    expect(own.named('delivery.handling_failed')).toMatchObject([fields]);
  });

  it('waits for all runs when one of them fails, and continues when it is received again', async () => {
    const { own, runs, sent, first } = await withFailures(2);
    let updates = 0;
    own.fault = ({ name }) => {
      if (name === 'Update' && ++updates === 1) throw throttled;
    };
    expect(await own.run(first)).toEqual([0]);
    expect(sent('recover')).toEqual([]);
    expect((await runs()).filter((run) => run.startsWith('pending'))).toHaveLength(1);
    expect(await own.run(first)).toEqual([]);
    expect(await runs()).toEqual(['pending 1', 'pending 2']);
  });

  it('continues after deliveries that another run takes', async () => {
    const { own, ids, sent, first, next } = await withFailures(3);
    let reads = 0;
    own.fault = async ({ name }) => {
      if (name !== 'BatchGet' || ++reads !== 2) return; // the first read is that of the webhook
      const taken = await own.log.ofWebhook('whk_1', ids.slice(0, 2));
      for (const delivery of taken) await own.log.startRun(delivery, { run: delivery.run + 1 }, now);
    };
    expect(await own.run(first)).toEqual([]);
    expect(sent('recover')).toMatchObject([{ group: 'prj_1#live', delaySeconds: 1, body: next }]);
    expect((await own.recovery())?.from).toEqual({ status: 'failed', after: ids[1] });
  });

  it.each([
    1, 2, 3, 4, 5, 6,
  ])('is done once when its effect %i fails and its message arrives several times', async (failing) => {
    const { own, runs, sent, first, next } = await withFailures(3);
    let effects = 0;
    own.fault = ({ name }) => {
      if (['Update', 'SendMessageBatch'].includes(name) && ++effects === failing) throw throttled;
    };
    for (const failed of [[0], [], []]) expect(await own.run(first)).toEqual(failed);
    expect(effects).toBeGreaterThan(failing);
    expect(new Set(sent('recover').map(({ body }) => JSON.stringify(body)))).toEqual(new Set([JSON.stringify(next)]));
    expect((await own.recovery())?.page).toBe(1);
    expect((await runs()).filter((run) => run.startsWith('pending')).length).toBeGreaterThanOrEqual(2);
  });

  it('queues the next page once for copies of its message, in one batch or one after another', async () => {
    const { own, sent, first, next } = await withFailures(5);
    const again = await own.run(first, first, first);
    for (const _ of again) expect(await own.run(first)).toEqual([]);
    expect(sent('recover')).toMatchObject([{ body: next }]);
    expect((await own.recovery())?.page).toBe(1);
    await own.run(next, next);
    expect(sent('recover').filter(({ body }) => JSON.stringify(body).includes('"page":2'))).toHaveLength(1);
  });

  it('waits while another copy of its message queues the next page', async () => {
    const { own, sent, first, next } = await withFailures(3);
    own.fault = ({ name, input }) => {
      if (name === 'SendMessageBatch' && input.Entries[0].MessageBody.includes('recover')) throw throttled;
    };
    expect(await own.run(first, first)).toEqual([0, 1]);
    own.fault = () => undefined;
    expect(sent('recover')).toEqual([]);
    expect(await own.run(first)).toEqual([]);
    expect(await own.run(first)).toEqual([]);
    expect(sent('recover')).toMatchObject([{ body: next }]);
  });

  it.each([
    ['of an older recovery', { id: 'rec_0' }],
    ['of an ended one', { endedAt: now }],
    ['that is done', { page: 1 }],
  ])('does nothing for a message %s', async (_, overrides) => {
    const { own, runs, recovery } = await withFailures(1, overrides);
    const id = 'id' in overrides ? sortableId('rec', now - DAY_MS, derivedFrom('older')) : recovery.id;
    expect(await own.run(page({ id, page: 0 }))).toEqual([]);
    expect([own.sent(), await runs()]).toEqual([[], ['failed 0']]);
  });

  it('waits for a recovery whose request is still running, and not for ever', async () => {
    const { own, runs } = await withFailures(1, { id: sortableId('rec', now - 1, derivedFrom('older')) });
    const id = sortableId('rec', now, derivedFrom('newer'));
    own.time = now + STARTING_MS - 1;
    expect(await own.run(page({ id, page: 0 }))).toEqual([0]);
    expect(own.named('delivery.handling_failed')).toEqual([]);
    own.time++;
    expect(await own.run(page({ id, page: 0 }))).toEqual([]);
    expect([own.sent(), await runs()]).toEqual([[], ['failed 0']]);
  });

  it.each([
    ['the webhook is disabled', 'its start', {}, now - EVENT_RETENTION_MS],
    ['the webhook is disabled', 'the start of its outage', { endedSince: now - 5 }, now - 5],
    ['the project is suspended', 'the start of its outage', { endedSince: now - 5 }, now - 5],
  ])('ends the recovery when %s, and the next one covers the time since %s', async (cause, _, given, since) => {
    const { own, runs, recovery, first } = await withFailures(1, given);
    if (cause === 'the webhook is disabled') await own.change({ status: 'disabled', recoveryId: undefined });
    else await own.table.write([update(itemKey.project('prj_1'), { suspendedAt: now })]);
    expect(await own.run(first)).toEqual([]);
    expect([own.sent(), await runs()]).toEqual([[], ['failed 0']]);
    expect((await own.hook())?.undeliveredSince).toBe(since);
    expect(await own.recovery()).toMatchObject({ id: recovery.id, endedAt: now });
  });

  it('ends when the webhook is deleted, and does not create it again', async () => {
    const { own, runs, first } = await withFailures(1);
    await own.table.removeAll([itemKey.webhook(space, 'whk_1')]);
    expect(await own.run(first, { recover: { ...first.recover, environment: 'sandbox' } })).toEqual([]);
    expect([own.sent(), await runs(), await own.hook()]).toEqual([[], ['failed 0'], undefined]);
  });

  it('queues no next page after the recovery was stopped', async () => {
    const { own, sent, first } = await withFailures(5);
    own.fault = async ({ name, input }) => {
      if (name === 'Update' && JSON.stringify(input).includes('nextPending'))
        await own.table.write([update(itemKey.recovery('whk_1'), { endedAt: now })]);
    };
    expect(await own.run(first)).toEqual([]);
    expect(sent('recover')).toEqual([]);
  });
});
