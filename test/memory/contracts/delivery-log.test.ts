import { describe, expect, it } from 'vitest';
import { itemKey } from '../../../lib/aws/items.ts';
import type { Table } from '../../../lib/aws/table.ts';
import type { Verdict } from '../../../lib/deliveries/decide.ts';
import { deliveryLog, type LogFilter, type RecoverableWindow } from '../../../lib/deliveries/log-store.ts';
import { deliveries } from '../../../lib/deliveries/store.ts';
import { EVENT_RETENTION_MS } from '../../../lib/events/event.ts';
import {
  attemptOf,
  failed,
  newDelivery,
  newId,
  newWebhook,
  now,
  recordOf,
  retrying,
  succeeded,
  walk,
} from './builders.ts';
import { companion, newStore } from './stores.ts';

const { table, short } = newStore();

describe('the delivery log', () => {
  const log = deliveryLog(table);
  const own = deliveries(table);

  /** One delivery per millisecond, oldest first, each in its state. `retrying` is due a millisecond later. */
  const STATES = [
    'succeeded',
    'failed',
    'retrying',
    'skipped',
    'succeeded',
    'retrying',
    'canceled',
    'succeeded',
  ] as const;
  const VERDICTS: Partial<Record<(typeof STATES)[number], (at: number) => Verdict>> = {
    succeeded: () => succeeded,
    failed: () => failed,
    retrying: (at) => ({ status: 'retrying', delaySeconds: 0, dueAt: at + 1 }),
  };
  async function fill(): Promise<{ webhookId: string; eventIds: string[] }> {
    const webhook = newWebhook();
    const eventIds: string[] = [];
    for (const [i, state] of STATES.entries()) {
      const { event, message } = newDelivery(webhook, now + i);
      const verdict = VERDICTS[state]?.(now + i);
      if (verdict) await own.record(message(), event, attemptOf(message(), { at: now + i, durationMs: 0 }), verdict);
      else await own.endRun(message(), event, { status: state as 'skipped', reason: 'disabled' }, now + i);
      eventIds.push(event.id);
    }
    return { webhookId: webhook.id, eventIds };
  }
  /** A webhook with these deliveries, which tests only read. */
  const filled = fill();

  const froms: [string, Table, number][] = [
    ['in one query', table, 100],
    ['in pages', table, 2],
    ['in truncated pages', short, 3],
  ];

  describe.each<[string, LogFilter, number[]]>([
    ['success', { statuses: ['succeeded'] }, [7, 4, 0]],
    ['failure', { statuses: ['failed'] }, [1]],
    ['retries', { statuses: ['retrying'] }, [5, 2]],
    ['a type and success', { types: ['document.deleted'], statuses: ['succeeded'] }, [7, 4, 0]],
    ['a type and retries', { types: ['document.deleted'], statuses: ['retrying'] }, [5, 2]],
    ['another type and retries', { types: ['document.changed'], statuses: ['retrying'] }, []],
    ['a window from its end to its beginning', { since: now + 5, until: now + 2 }, []],
    ['before a time, with success', { until: now + 4, statuses: ['succeeded'] }, [0]],
    ['before a time, retries', { until: now + 4, statuses: ['retrying'] }, [2]],
    ['retries and failure', { statuses: ['failed', 'retrying'] }, [5, 2, 1]],
    ['retries and success', { statuses: ['retrying', 'succeeded'] }, [7, 5, 4, 2, 0]],
    ['several types and failure', { types: ['document.changed', 'document.deleted'], statuses: ['failed'] }, [1]],
    ['several types', { types: ['document.changed', 'document.deleted'] }, [7, 6, 5, 4, 3, 2, 1, 0]],
  ])('lists deliveries of %s', (_, filter, expected) => {
    it.each(froms)('list has every delivery once, newest first, %s', async (_, from, limit) => {
      const { webhookId, eventIds } = await filled;
      const { entries, pages } = await walk(async (after) => {
        const page = await deliveryLog(from).list(webhookId, { ...filter, limit, after });
        return { entries: page.deliveries.map(({ eventId }) => eventId), next: page.next };
      });
      expect(entries).toEqual(expected.map((i) => eventIds[i]));
      expect(Math.max(...pages.map(({ length }) => length))).toBeLessThanOrEqual(limit);
    });
  });

  const all = { since: 0, until: now + 1000, stuckBefore: 0 };
  describe.each<[string, RecoverableWindow, number[]]>([
    ['what ended without success', all, [1, 3, 6]],
    ['the same of a window', { ...all, since: now + 2, until: now + 6 }, [3]],
    ['what ended at a time or later, too', { ...all, endedSince: now + 4 }, [6]],
    ['what was due before', { ...all, stuckBefore: now + 4 }, [1, 2, 3, 6]],
    ['what was due before, whenever the others ended', { ...all, endedSince: now + 7, stuckBefore: now + 7 }, [2, 5]],
    ['not what is due at that time', { ...all, stuckBefore: now + 3 }, [1, 3, 6]],
    ['a type', { ...all, types: ['document.changed', 'document.deleted'] }, [1, 3, 6]],
    ['other types', { ...all, types: ['document.changed', 'sync.completed'] }, []],
  ])('a recovery of %s', (_, window, expected) => {
    it.each(froms)('finds every delivery once, %s', async (_, from, limit) => {
      const { webhookId, eventIds } = await filled;
      const { entries, pages } = await walk(async (text) => {
        const from_ = text === undefined ? undefined : JSON.parse(text);
        const page = await deliveryLog(from).recoverable(webhookId, window, { limit, from: from_ });
        return {
          entries: page.deliveries.map(({ eventId }) => eventId),
          next: page.next && JSON.stringify(page.next),
        };
      });
      expect(entries.sort()).toEqual(expected.map((i) => eventIds[i]));
      expect(Math.max(...pages.map(({ length }) => length))).toBeLessThanOrEqual(limit);
    });

    it('is counted exactly', async () => {
      const { webhookId } = await filled;
      expect(await log.countRecoverable(webhookId, window)).toBe(expected.length);
    });
  });

  describe('a recovery', () => {
    it('excludes tests with any status, and lists mark them as tests', async () => {
      const { webhook, event, message } = newDelivery();
      await own.record(message(), { ...event, webhookId: webhook.id }, attemptOf(message()), failed);
      expect(await log.countRecoverable(webhook.id, all)).toBe(0);
      expect(await log.recoverable(webhook.id, all, { limit: 10 })).toEqual({ deliveries: [], next: undefined });
      const { deliveries: found } = await log.list(webhook.id, { statuses: ['failed'], limit: 10 });
      expect(found).toMatchObject([{ eventId: event.id, test: true }]);
    });

    it.each([
      ['one status', 750, 16 * 750],
      ['several statuses', 300, 3 * 16 * 300],
      ['all statuses', 100, 5 * 16 * 100],
    ])('is counted from one page of the newest entries of each partition, until it is above 10,000: %s', async (_, most, sum) => {
      const query: Table['query'] = async ({ Limit = 0, ScanIndexForward }) => ({
        items: [],
        count: ScanIndexForward ? 0 : Math.min(Limit, most),
        next: itemKey.delivery('whk_1', 'evt_1'),
      });
      expect(await deliveryLog({ ...table, query }).countRecoverable('whk_1', all)).toBe(sum);
    });

    it('excludes the deliveries that it started itself', async () => {
      const { webhook, event, message } = newDelivery();
      const run = message({ run: 1, trigger: 'recovery', recovery: 'rec_1' });
      await own.endRun(run, event, { status: 'skipped', reason: 'rate_limited' }, now);
      const found = async (recoveryId: string) =>
        (await log.recoverable(webhook.id, { ...all, recoveryId }, { limit: 10 })).deliveries.length;
      expect([await found('rec_1'), await found('rec_2')]).toEqual([0, 1]);
    });

    it('leaves out a delivery that was stuck, and whose next attempt was recorded while the index is late', async () => {
      const { webhook, event, message } = newDelivery();
      const record = (attempt: number, dueAt: number) =>
        own.record(message({ attempt }), event, attemptOf(message({ attempt })), {
          status: 'retrying',
          delaySeconds: 0,
          dueAt,
        });
      await record(1, now);
      const batchGet: Table['batchGet'] = async (keys) => {
        await record(2, now + 10);
        return table.batchGet(keys);
      };
      const late = deliveryLog({ ...table, batchGet });
      const stuck = { ...all, stuckBefore: now + 1 };
      const page = { limit: 10, from: { status: 'retrying' } } as const;
      expect(await late.recoverable(webhook.id, stuck, page)).toEqual({ deliveries: [], next: undefined });
    });
  });

  describe('startRun', () => {
    /** Creates a delivery with `count` attempts, each in a separate run. */
    async function recorded(count: number, verdict: Verdict = failed) {
      const { webhook, event, message } = newDelivery();
      const append = async (run: number) => {
        const next = message({ run, trigger: 'redelivery' });
        await own.record(next, event, attemptOf(next, { at: now + run }), verdict);
      };
      for (let run = 0; run < count; run++) await append(run);
      const stored = async () => recordOf(await log.get(webhook.id, event.id));
      const record = await stored();
      if (!record) throw new Error('Nothing is recorded');
      return { record, event, message, append, stored };
    }
    const timesOf = (record: { attempts: { at: number }[] } | undefined) => record?.attempts.map(({ at }) => at - now);
    const numbers = (first: number, last: number) => Array.from({ length: last - first + 1 }, (_, i) => first + i);

    it.each([
      failed,
      retrying,
    ])('stores the new run together with other writes, for the retention of events: %j', async (verdict) => {
      const { record, stored } = await recorded(1, verdict);
      const { also, isWritten } = companion(table);
      const at = now + 1000;
      await log.startRun(record, { run: 1 }, at, also);
      const run = { run: 1, attempt: 0, status: 'pending', nextAttemptAt: at };
      expect(await stored()).toEqual({ ...record, ...run, endedAt: undefined, retryPending: undefined });
      expect(await isWritten()).toBe(true);
      const item = await table.get(itemKey.delivery(record.webhookId, record.eventId));
      expect(item?.expires).toBe(Math.ceil((at + EVENT_RETENTION_MS) / 1000));
    });

    it('removes the delivery from a list by its earlier status, even while the index is late', async () => {
      const { record } = await recorded(1);
      const batchGet: Table['batchGet'] = async (keys) => {
        await log.startRun(record, { run: 1 }, now); // after the query of the index
        return table.batchGet(keys);
      };
      const { deliveries: found } = await deliveryLog({ ...table, batchGet }).list(record.webhookId, {
        statuses: ['failed'],
        limit: 10,
      });
      expect(found).toEqual([]);
    });

    it.each([
      [24, 0],
      [25, 1],
      [30, 6],
    ])('keeps the latest 24 of %i attempts', async (count, first) => {
      const { record, stored } = await recorded(count);
      await log.startRun(record, { run: count }, now);
      expect(timesOf(await stored())).toEqual(numbers(first, count - 1));
    });

    it('keeps an attempt that was added concurrently', async () => {
      const { record, append, stored } = await recorded(25);
      await append(25);
      await log.startRun(record, { run: 26 }, now);
      expect(timesOf(await stored())).toEqual(numbers(1, 25));
    });

    it.each([
      ['with earlier attempts', 1],
      ['with a newer run', 2],
    ])('performs only the other writes for a run %s', async (_, run) => {
      const { record, append, stored } = await recorded(1);
      await append(run);
      const before = await stored();
      const { also, isWritten } = companion(table);
      await log.startRun(record, { run: 1 }, now, also);
      await log.startRun(record, { run: 1 }, now);
      expect(await stored()).toEqual(before);
      expect(await isWritten()).toBe(true);
    });

    it('makes no delivery', async () => {
      const { record } = await recorded(1);
      const other = { ...record, eventId: newId('evt') };
      await log.startRun(other, { run: 1 }, now);
      expect(await log.get(other.webhookId, other.eventId)).toBeUndefined();
    });
  });
});
