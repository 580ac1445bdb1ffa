import { describe, expect, it } from 'vitest';
import { itemKey } from '../../../lib/aws/items.ts';
import type { DeliveryContext, Verdict } from '../../../lib/deliveries/decide.ts';
import { deliveryLog } from '../../../lib/deliveries/log-store.ts';
import { type DeliveryMessage, toCarry } from '../../../lib/deliveries/messages.ts';
import { deliveries } from '../../../lib/deliveries/store.ts';
import { eventStore } from '../../../lib/events/store.ts';
import { webhooks } from '../../../lib/webhooks/store.ts';
import { attemptOf, failed, newDelivery, now, recordOf, retrying } from './builders.ts';
import { newStore } from './stores.ts';

const { table } = newStore();

/** A delivery in the table, with actions on it. */
function happening() {
  const { webhook, event, message } = newDelivery();
  const own = deliveries(table);
  const log = deliveryLog(table);
  const stored = async () => recordOf(await log.get(webhook.id, event.id));
  return {
    ...{ webhook, event, message, own, stored },
    record: (of: DeliveryMessage, verdict: Verdict = retrying) => own.record(of, event, attemptOf(of), verdict),
    /** Processes the messages of a run up to the given one, whose retry stays pending. */
    async upTo(last: DeliveryMessage) {
      for (let attempt = 1; attempt <= last.attempt; attempt++) {
        await own.record(last, event, attemptOf({ ...last, attempt }), retrying);
        if (attempt < last.attempt) await own.markRetried({ ...last, attempt });
      }
    },
    async startRun(run: number) {
      const record = await log.get(webhook.id, event.id);
      if (record) await log.startRun(record, { run }, now);
    },
  };
}
type Happening = ReturnType<typeof happening>;
type Past = [past: string, happen: (delivery: Happening) => Promise<unknown>];

const canceled = { status: 'canceled', reason: 'disabled' } as const;
const skipped = { status: 'skipped', reason: 'rate_limited' } as const;

/** Histories after which the message of attempt 2 in run 0 has no effect. */
const OVERTAKEN: Past[] = [
  ['its attempt is recorded', ({ upTo, message }) => upTo(message({ attempt: 2 }))],
  ['a later attempt is recorded', ({ upTo, message }) => upTo(message({ attempt: 3 }))],
  ['its run failed', ({ record, message }) => record(message(), failed)],
  [
    'its run was canceled',
    async ({ upTo, own, message, event }) => {
      await upTo(message());
      await own.endRun(message({ attempt: 2 }), event, canceled, now);
    },
  ],
  ['its run was skipped', ({ own, message, event }) => own.endRun(message(), event, skipped, now)],
  [
    'a newer run was started',
    async ({ upTo, startRun, message }) => {
      await upTo(message());
      await startRun(1);
    },
  ],
  ['a newer run recorded an attempt', ({ record, message }) => record(message({ run: 1 }))],
];

describe('deliveries', () => {
  it('are loaded for each message in order, with undefined for missing records', async () => {
    const own = deliveries(table);
    const all = Array.from({ length: 45 }, (_, i) => newDelivery({}, now + i));
    for (const [i, { webhook, event, message }] of all.entries()) {
      if (i % 2 === 0) await webhooks(table).create(webhook, []);
      if (i % 3 === 0) await eventStore(table).publish([event], []);
      if (i % 5 === 0) await own.record(message(), event, attemptOf(message()), retrying);
    }
    const contexts = (await own.loadContexts(all.map(({ message }) => message()))) as DeliveryContext[];
    expect(contexts.map((found) => recordOf(found.webhook))).toEqual(
      all.map(({ webhook }, i) => (i % 2 === 0 ? webhook : undefined)),
    );
    expect(contexts.map((found) => recordOf(found.event))).toEqual(
      all.map(({ event }, i) => (i % 3 === 0 ? event : undefined)),
    );
    expect(contexts.map((found) => found.delivery?.eventId)).toEqual(
      all.map(({ event }, i) => (i % 5 === 0 ? event.id : undefined)),
    );
  });

  it('are loaded without a read of the event that a message carries', async () => {
    const { event, message } = newDelivery();
    const read: string[] = [];
    const batchGetEach: typeof table.batchGetEach = (keys) => {
      read.push(...keys.map(({ pk }) => pk));
      return table.batchGetEach(keys);
    };
    await deliveries({ ...table, batchGetEach }).loadContexts([{ ...message(), event: toCarry(event) }]);
    expect(read).not.toContain(itemKey.event(event, event.id).pk);
  });

  it.each<[Verdict, number | undefined]>([
    [retrying, undefined],
    [failed, now + 10],
  ])('has an end only after a failed run, which is that of its last attempt: %j', async (verdict, endedAt) => {
    const { message, record, stored } = happening();
    await record(message(), verdict);
    expect(await stored()).toMatchObject({ status: verdict.status });
    expect((await stored())?.endedAt).toBe(endedAt);
  });

  it.each<Past>([
    ['a later attempt', ({ upTo, message }) => upTo(message({ attempt: 3 }))],
    ['a newer run', ({ upTo, message }) => upTo(message({ run: 1, attempt: 2 }))],
    ['an earlier attempt', ({ upTo, message }) => upTo(message({ attempt: 1 }))],
  ])('keep the pending retry of %s when an attempt is marked as retried', async (_, happen) => {
    const delivery = happening();
    await happen(delivery);
    const before = await delivery.stored();
    expect(before?.retryPending).toBe(true);
    await delivery.own.markRetried(delivery.message({ attempt: 2 }));
    expect(await delivery.stored()).toEqual(before);
  });

  describe('end', () => {
    it('cancels a delivery in progress, and keeps its attempts', async () => {
      const { message, event, own, upTo, stored } = happening();
      await upTo(message());
      const before = await stored();
      await own.endRun(message({ attempt: 2 }), event, canceled, now + 1);
      const ended = { ...canceled, nextAttemptAt: undefined, retryPending: undefined, endedAt: now + 1 };
      expect(await stored()).toEqual({ ...before, ...ended });
    });

    it.each(OVERTAKEN)('changes nothing if %s, and an attempt is not recorded then', async (_, happen) => {
      const delivery = happening();
      await happen(delivery);
      const before = await delivery.stored();
      await delivery.own.endRun(delivery.message({ attempt: 2 }), delivery.event, skipped, now + 1);
      expect(await delivery.record(delivery.message({ attempt: 2 }))).toBe(false);
      expect(await delivery.stored()).toEqual(before);
    });
  });
});
