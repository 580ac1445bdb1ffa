import { describe, expect, it } from 'vitest';
import { deliveries } from '../../lib/aws/dynamodb/deliveries.ts';
import { deliveryLog } from '../../lib/aws/dynamodb/delivery-log.ts';
import { itemKey } from '../../lib/aws/dynamodb/items.ts';
import type { Verdict } from '../../lib/delivery/decide.ts';
import type { DeliveryFilter } from '../../lib/delivery/record.ts';
import { EVENT_RETENTION_MS } from '../../lib/events/events.ts';
import type { DeliveryLog } from '../../lib/handlers/deliveries.ts';
import { earliestId } from '../../lib/ids.ts';
import {
  attemptOf,
  failed,
  newDelivery,
  newId,
  newStoredEvent,
  newWebhook,
  now,
  recordOf,
  retrying,
  succeeded,
  walk,
} from './builders.ts';
import { companion, stores } from './stores.ts';

describe.each(stores)('the delivery log in $name', ({ table, lossy, short }) => {
  const log = deliveryLog(table) satisfies DeliveryLog;
  const own = deliveries(table);

  /** One delivery per millisecond, oldest first, each in its state. `pending`: due a millisecond later. */
  const STATES = [
    'succeeded',
    'failed',
    'pending',
    'skipped',
    'succeeded',
    'pending',
    'canceled',
    'succeeded',
  ] as const;
  const VERDICTS: Partial<Record<(typeof STATES)[number], (at: number) => Verdict>> = {
    succeeded: () => succeeded,
    failed: () => failed,
    pending: (at) => ({ status: 'retrying', delaySeconds: 0, dueAt: at + 1 }),
  };
  async function fill(): Promise<{ webhookId: string; eventIds: string[] }> {
    const webhook = newWebhook();
    const eventIds: string[] = [];
    for (const [i, state] of STATES.entries()) {
      const { event, message } = newDelivery(webhook, now + i);
      const verdict = VERDICTS[state]?.(now + i);
      if (verdict) await own.record(message(), event, attemptOf(message()), verdict);
      else await own.end(message(), event, state as 'skipped', now + i);
      eventIds.push(event.id);
    }
    return { webhookId: webhook.id, eventIds };
  }

  describe('get', () => {
    it('finds nothing where nothing is recorded', async () => {
      expect(await log.get(newId('whk'), newId('evt'))).toBeUndefined();
    });
  });

  describe.each<[string, DeliveryFilter, number[]]>([
    ['everything', {}, [7, 6, 5, 4, 3, 2, 1, 0]],
    ['a status', { statuses: ['succeeded'] }, [7, 4, 0]],
    ['several statuses', { statuses: ['failed', 'canceled', 'skipped'] }, [6, 3, 1]],
    ['a time and later', { since: now + 3 }, [7, 6, 5, 4, 3]],
    ['a time before another', { since: now + 3, until: now + 6 }, [5, 4, 3]],
    ['before a time, with a status', { until: now + 4, statuses: ['succeeded', 'failed'] }, [1, 0]],
    ['what was due before', { statuses: ['failed'], stuckBefore: now + 4 }, [2, 1]],
    ['what was due before, of a window', { since: now + 2, statuses: ['skipped'], stuckBefore: now + 7 }, [5, 3, 2]],
    ['not what is due at that time', { statuses: ['failed'], stuckBefore: now + 3 }, [1]],
    ['an empty window', { since: now + 4, until: now + 4 }, []],
    ['a window from its end to its beginning', { since: now + 5, until: now + 2 }, []],
    ['a window from its end to its beginning, with a status', { since: now + 5, until: 0, statuses: ['failed'] }, []],
    ['a time before 1970', { since: -1, until: now + 1 }, [0]],
    ['a time to come', { since: now + 1_000_000 }, []],
  ])('of %s', (_, filter, expected) => {
    it.each([
      ['in one query', table, 100],
      ['in pages', table, 2],
      ['in pages that are cut short', short, 3],
    ])('list has every delivery once, newest first, %s', async (_, from, limit) => {
      const { webhookId, eventIds } = await fill();
      const { entries, pages } = await walk(async (after) => {
        const page = await deliveryLog(from).list(webhookId, { ...filter, limit, after });
        return { entries: page.deliveries.map(({ eventId }) => eventId), next: page.next };
      });
      expect(entries).toEqual(expected.map((i) => eventIds[i]));
      expect(Math.max(...pages.map(({ length }) => length))).toBeLessThanOrEqual(limit);
    });

    it.each([
      ['one query', table],
      ['many queries', short],
    ])('count is exact, by %s', async (_, from) => {
      const { webhookId } = await fill();
      expect(await deliveryLog(from).count(webhookId, filter)).toBe(expected.length);
    });
  });

  describe('list', () => {
    it('has nothing of other webhooks', async () => {
      const [one, other] = [await fill(), await fill()];
      const { deliveries: found } = await log.list(one.webhookId, { limit: 100 });
      expect(found.map(({ eventId }) => eventId)).toEqual([...one.eventIds].reverse());
      expect(found.every(({ webhookId }) => webhookId !== other.webhookId)).toBe(true);
      expect(recordOf(found[0])).toEqual(recordOf(await log.get(one.webhookId, one.eventIds.at(-1) ?? '')));
    });

    it('of an unknown webhook is empty', async () => {
      expect(await log.list(newId('whk'), { limit: 10 })).toEqual({ deliveries: [], next: undefined });
      expect(await log.count(newId('whk'), {})).toBe(0);
    });

    it('has the events of a millisecond in one window', async () => {
      const { id: webhookId } = newWebhook();
      const ids = [newId('evt', now), newId('evt', now), newId('evt', now + 1)];
      for (const eventId of ids) {
        const { message } = newDelivery();
        const own = message({ webhookId, eventId });
        await deliveries(table).record(own, newStoredEvent(), attemptOf(own), succeeded);
      }
      const { deliveries: found } = await log.list(webhookId, { since: now, until: now + 1, limit: 10 });
      expect(found.map(({ eventId }) => eventId)).toEqual(ids.slice(0, 2).sort().reverse());
      expect(found[0]?.eventId.startsWith(earliestId('evt', now))).toBe(true);
    });
  });

  describe('startRun', () => {
    /** A delivery with so many attempts, each in a run of its own. */
    async function recorded(count: number) {
      const { webhook, event, message } = newDelivery();
      const append = async (run: number) => {
        const next = message({ run, trigger: 'redelivery' });
        await own.record(next, event, attemptOf(next, { at: now + run }), failed);
      };
      for (let run = 0; run < count; run++) await append(run);
      const stored = async () => recordOf(await log.get(webhook.id, event.id));
      const record = await stored();
      if (!record) throw new Error('Nothing is recorded');
      return { record, event, message, append, stored };
    }
    const timesOf = (record: { attempts: { at: number }[] } | undefined) => record?.attempts.map(({ at }) => at - now);
    const numbers = (first: number, last: number) => Array.from({ length: last - first + 1 }, (_, i) => first + i);

    it('shows the new run under way, with what is also written, and keeps it as long as an event', async () => {
      const { record, stored } = await recorded(1);
      const { also, isWritten } = companion(table);
      const at = now + 1000;
      await log.startRun(record, 1, at, also);
      expect(await stored()).toEqual({ ...record, run: 1, attempt: 0, status: 'retrying', nextAttemptAt: at });
      expect(await isWritten()).toBe(true);
      const item = await table.get(itemKey.delivery(record.webhookId, record.eventId));
      expect(item?.expires).toBe(Math.ceil((at + EVENT_RETENTION_MS) / 1000));
    });

    it('ends the wait for a retry', async () => {
      const { webhook, event, message } = newDelivery();
      await own.record(message(), event, attemptOf(message()), retrying);
      const record = await log.get(webhook.id, event.id);
      if (record) await log.startRun(record, 1, now);
      expect((await log.get(webhook.id, event.id))?.retryPending).toBeUndefined();
    });

    it.each([
      [23, 0],
      [24, 0],
      [25, 1],
    ])('keeps the latest 24 of %i attempts', async (count, first) => {
      const { record, stored } = await recorded(count);
      await log.startRun(record, count, now);
      expect(timesOf(await stored())).toEqual(numbers(first, count - 1));
    });

    it('keeps the latest 24 of many attempts', async () => {
      const { record, stored } = await recorded(30);
      await log.startRun(record, 30, now);
      expect(timesOf(await stored())).toEqual(numbers(6, 29));
    });

    it('keeps an attempt that was added meanwhile', async () => {
      const { record, append, stored } = await recorded(25);
      await append(25);
      await log.startRun(record, 26, now);
      expect(timesOf(await stored())).toEqual(numbers(1, 25));
    });

    it.each([
      ['whose attempts came first', 1],
      ['that a newer one has overtaken', 2],
    ])('changes nothing for a run %s, but what is also written is', async (_, run) => {
      const { record, append, stored } = await recorded(1);
      await append(run);
      const before = await stored();
      const { also, isWritten } = companion(table);
      await log.startRun(record, 1, now, also);
      await log.startRun(record, 1, now);
      expect(await stored()).toEqual(before);
      expect(await isWritten()).toBe(true);
    });

    it('makes no delivery', async () => {
      const { record } = await recorded(1);
      const other = { ...record, eventId: newId('evt') };
      await log.startRun(other, 1, now);
      expect(await log.get(other.webhookId, other.eventId)).toBeUndefined();
    });

    it('changes nothing if what is also written is refused', async () => {
      const { record, stored } = await recorded(1);
      await log.startRun(record, 1, now, companion(table, { isRefused: true }).also);
      expect(await stored()).toEqual(record);
    });

    it.each([
      ['alone', () => []],
      ['with what is also written', () => companion(table).also],
    ])('takes an attempt off once if the response was lost, %s', async (_, also) => {
      const { record, stored } = await recorded(25);
      await deliveryLog(lossy).startRun(record, 25, now, also());
      expect(timesOf(await stored())).toEqual(numbers(1, 24));
    });
  });
});
