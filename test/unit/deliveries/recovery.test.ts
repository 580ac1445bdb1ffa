import { describe, expect, it } from 'vitest';
import type { RecoverMessage } from '../../../lib/deliveries/messages.ts';
import { isRecoverable, stuckBefore, windowOf } from '../../../lib/deliveries/recovery.ts';
import { EVENT_RETENTION_MS } from '../../../lib/events/event.ts';
import { DAY_MS, HOUR_MS, newId, retrying } from '../../memory/contracts/builders.ts';
import { now, record, space, webhook } from './builders.ts';
import { laneFunction } from './lane.ts';

it.each([
  ['succeeded while the index is late', { status: 'succeeded' }],
  ['is a test', { status: 'failed', test: true }],
  ['is due for exactly a day', { status: 'retrying', nextAttemptAt: now - DAY_MS }],
] as const)('a recovery leaves out a delivery that %s', (_, overrides) => {
  expect(isRecoverable(record(overrides), stuckBefore(now))).toBe(false);
});

it('a recovery covers by default what ended since a minute before the outage, because clocks differ', () => {
  const all = { since: now - EVENT_RETENTION_MS, until: now + 60_000 };
  const failing = webhook({ undeliveredSince: now });
  expect(windowOf(failing, {}, now)).toEqual({ ...all, endedSince: now - 60_000 });
  expect(windowOf(failing, { until: now }, now)).toEqual({ ...all, until: now, endedSince: now - 60_000 });
  expect(windowOf(webhook(), {}, now)).toEqual(all);
});

describe('a page of a recovery', () => {
  const page = (overrides: Partial<RecoverMessage['recover']> = {}): RecoverMessage => ({
    recover: { ...space, webhookId: 'whk_1', since: now - HOUR_MS, until: now + HOUR_MS, perSecond: 2, ...overrides },
  });
  const throttled = new Error('throttled');

  /** A lane with failed deliveries, newest first. */
  async function withFailures(count: number, of: Parameters<typeof laneFunction>[0] = {}) {
    const own = await laneFunction(of);
    const ids = Array.from({ length: count }, (_, i) => newId('evt', now - i));
    for (const [i, eventId] of ids.entries()) await own.record(6, { status: 'failed' }, { eventId, run: i });
    const runs = async () => (await own.log.ofWebhook('whk_1', ids)).map(({ status, run }) => `${status} ${run}`);
    return { own, ids, runs };
  }

  it('finds a retry that is more than a day late', async () => {
    const own = await laneFunction();
    const eventId = newId('evt', now);
    await own.record(1, retrying, { eventId });
    for (const late of [0, 1]) {
      own.time = now + 60_000 + DAY_MS + late;
      await own.run(page());
      expect((await own.log.get('whk_1', eventId))?.run).toBe(late);
    }
  });

  it('has the pace of the request, or the limit of the webhook if that is lower now', async () => {
    const { own, runs } = await withFailures(3, { maxPerSecond: 1 });
    await own.run(page());
    expect(await runs()).toEqual(['pending 1', 'failed 1', 'failed 2']);
    await own.change({ maxPerSecond: 500 });
    await own.run(page());
    expect(await runs()).toEqual(['pending 1', 'pending 2', 'pending 3']);
  });

  it('records no run if the messages could not be sent', async () => {
    const { own, runs } = await withFailures(2);
    own.fault = ({ name }) => {
      if (name === 'SendMessageBatch') throw throttled;
    };
    expect(await own.run(page())).toEqual([0]);
    expect(await runs()).toEqual(['failed 0', 'failed 1']);
    const fields = { project_id: 'prj_1', environment: 'live', webhook_id: 'whk_1' };
    expect(own.named('delivery.handling_failed')).toMatchObject([fields]);
  });

  it('waits for all runs when one of them fails, and continues when it is received again', async () => {
    const { own, runs } = await withFailures(2);
    let updates = 0;
    own.fault = ({ name }) => {
      if (name === 'Update' && ++updates === 1) throw throttled;
    };
    expect(await own.run(page())).toEqual([0]);
    expect(own.sent().some(({ body }) => 'recover' in body)).toBe(false);
    expect((await runs()).filter((run) => run.startsWith('pending'))).toHaveLength(1);
    expect(await own.run(page())).toEqual([]);
    expect(await runs()).toEqual(['pending 1', 'pending 2']);
  });

  it('continues when another recovery takes all of its deliveries', async () => {
    const { own, ids } = await withFailures(3);
    let reads = 0;
    own.fault = async ({ name }) => {
      if (name !== 'BatchGet' || ++reads !== 2) return; // the first read is that of the webhook
      const taken = await own.log.ofWebhook('whk_1', ids.slice(0, 2));
      for (const delivery of taken) await own.log.startRun(delivery, delivery.run + 1, now);
    };
    const given = page({ endedSince: now - HOUR_MS });
    expect(await own.run(given)).toEqual([]);
    const next = { ...given.recover, from: { status: 'failed', after: ids[1] } };
    expect(own.sent()).toMatchObject([{ group: 'prj_1#live', delaySeconds: 1, body: { recover: next } }]);
  });

  it.each([
    ['its start', {}, -HOUR_MS],
    ['the start of its outage', { endedSince: now - 5 }, -5],
  ])('ends when the webhook is disabled, and the next recovery covers the time since %s', async (_, given, sinceMs) => {
    const { own, runs } = await withFailures(1, { status: 'disabled' });
    expect(await own.run(page(given))).toEqual([]);
    expect([own.sent(), await runs()]).toEqual([[], ['failed 0']]);
    expect((await own.hook())?.undeliveredSince).toBe(now + sinceMs);
  });

  it('ends when the webhook is not in its space, or deleted', async () => {
    const { own, runs } = await withFailures(1);
    expect(await own.run(page({ environment: 'sandbox' }), page({ webhookId: 'whk_2' }))).toEqual([]);
    expect([own.sent(), await runs()]).toEqual([[], ['failed 0']]);
  });
});
