import { describe, expect, it } from 'vitest';
import type { Verdict } from '../../../lib/deliveries/decide.ts';
import { deliveryLog } from '../../../lib/deliveries/log-store.ts';
import { carrying, type DeliveryMessage } from '../../../lib/deliveries/messages.ts';
import { type Deliveries, type DeliveryContext, deliveries } from '../../../lib/deliveries/store.ts';
import { UnavailableError } from '../../../lib/errors.ts';
import { eventStore } from '../../../lib/events/store.ts';
import type { HeaderList } from '../../../lib/webhooks/custom-headers.ts';
import { webhooks } from '../../../lib/webhooks/store.ts';
import { attemptOf, failed, newDelivery, newStoredEvent, now, recordOf, retrying, succeeded } from './builders.ts';
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
      if (record) await log.startRun(record, run, now);
    },
  };
}
type Happening = ReturnType<typeof happening>;
type Past = [past: string, happen: (delivery: Happening) => Promise<unknown>];

/** Histories after which the message of attempt 2 in run 0 has no effect. */
const OVERTAKEN: Past[] = [
  [
    'its retry is queued',
    async ({ upTo, own, message }) => {
      await upTo(message({ attempt: 2 }));
      await own.markRetried(message({ attempt: 2 }));
    },
  ],
  ['a later attempt is recorded', ({ upTo, message }) => upTo(message({ attempt: 3 }))],
  [
    'its run succeeded',
    async ({ upTo, record, message }) => {
      await upTo(message());
      await record(message({ attempt: 2 }), succeeded);
    },
  ],
  ['its run failed', ({ record, message }) => record(message(), failed)],
  [
    'its run was canceled',
    async ({ upTo, own, message, event }) => {
      await upTo(message());
      await own.end(message({ attempt: 2 }), event, 'canceled', now);
    },
  ],
  ['its run was skipped', ({ own, message, event }) => own.end(message(), event, 'skipped', now)],
  [
    'a newer run was started',
    async ({ upTo, startRun, message }) => {
      await upTo(message());
      await startRun(1);
    },
  ],
  ['a newer run recorded an attempt', ({ record, message }) => record(message({ run: 1 }))],
];

/** Histories after which the message is the next attempt. */
const BEFORE: Past[] = [
  ['nothing', async () => {}],
  ['its predecessor', ({ upTo, message }) => upTo(message())],
];

const contextsOf = async (own: Pick<Deliveries, 'loadContexts'>, messages: DeliveryMessage[]) =>
  (await own.loadContexts(messages)).filter(
    (context): context is DeliveryContext => !(context instanceof UnavailableError),
  );

describe('deliveries', () => {
  describe('loadContexts', () => {
    it('returns the records of each message in order, with undefined for missing ones', async () => {
      const own = deliveries(table);
      const all = Array.from({ length: 45 }, (_, i) => newDelivery({}, now + i));
      for (const [i, { webhook, event, message }] of all.entries()) {
        if (i % 2 === 0) await webhooks(table).create(webhook, []);
        if (i % 3 === 0) await eventStore(table).publish([event], []);
        if (i % 5 === 0) await own.record(message(), event, attemptOf(message()), retrying);
      }
      const contexts = await contextsOf(
        own,
        all.map(({ message }) => message()),
      );
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

    it('reads a record of several messages once', async () => {
      const { webhook, event, message } = newDelivery();
      const other = newStoredEvent(webhook);
      await webhooks(table).create(webhook, []);
      await eventStore(table).publish([event], []);
      const messages = [message(), message({ eventId: other.id }), message(), message({ attempt: 2 })];
      const contexts = await contextsOf(deliveries(table), messages);
      expect(contexts.map((found) => found.webhook?.id)).toEqual(Array(4).fill(webhook.id));
      expect(contexts.map((found) => found.event?.id)).toEqual([event.id, undefined, event.id, event.id]);
    });

    it('does not read events that messages contain', async () => {
      const [carried, stored] = [newDelivery(), newDelivery()];
      await eventStore(table).publish([stored.event], []);
      const contexts = await contextsOf(deliveries(table), [
        carrying(carried.message(), carried.event),
        stored.message(),
      ]);
      expect(contexts.map(({ event }) => recordOf(event))).toEqual([carried.event, stored.event]);
    });
  });

  describe('record', () => {
    it.each<[Verdict['status'], Verdict, object]>([
      ['retrying', retrying, { nextAttemptAt: now + 60_000, retryPending: true }],
      ['succeeded', succeeded, {}],
      ['failed', failed, { endedAt: now + 10 }],
    ])('records the attempt and the next step: %s', async (status, verdict, follows) => {
      const { webhook, event, message, record, stored } = happening();
      expect(await record(message(), verdict)).toBe(true);
      expect(await stored()).toEqual({
        ...{ webhookId: webhook.id, eventId: event.id, eventType: event.type, status, run: 0, attempt: 1 },
        documentKey: event.documentKey,
        ...{ attempts: [attemptOf(message())], createdAt: now },
        ...follows,
      });
    });

    it('stores the URL, the request and the response of each attempt', async () => {
      const { event, message, own, stored } = happening();
      const made = [1, 2].map((attempt) => ({
        ...attemptOf(message({ attempt })),
        url: `https://${attempt}.example/`,
        sent: [['X-Service-Signature', `sha256=${attempt}`]] as HeaderList,
        headers: [['Via', '1']] as HeaderList,
      }));
      for (const attempt of made) await own.record(message({ attempt: attempt.number }), event, attempt, retrying);
      expect((await stored())?.attempts).toEqual(made);
    });

    it('appends to the recorded attempts, and keeps the time of the first one', async () => {
      const { event, message, own, upTo, stored } = happening();
      await upTo(message());
      const later = attemptOf(message({ attempt: 2 }), { at: now + 60_000, statusCode: 200, error: null });
      expect(await own.record(message({ attempt: 2 }), event, later, succeeded)).toBe(true);
      const after = await stored();
      expect(after).toMatchObject({ status: 'succeeded', attempt: 2, createdAt: now });
      expect(after?.attempts).toEqual([attemptOf(message()), later]);
      expect([after?.nextAttemptAt, after?.retryPending]).toEqual([undefined, undefined]);
    });

    it.each([
      ...BEFORE,
      ['an attempt that left no message', ({ record, message }: Happening) => record(message(), retrying)] as Past,
      [
        'the start of its run',
        async ({ record, message, startRun }: Happening) => {
          await record(message({ run: -1 }), failed);
          await startRun(0);
        },
      ] as Past,
      [
        'the end of an earlier run',
        ({ record, message }: Happening) => record(message({ run: -1, attempt: 6 }), failed),
      ] as Past,
      [
        'an earlier run that goes on',
        ({ record, message }: Happening) => record(message({ run: -1, attempt: 4 })),
      ] as Past,
    ])('succeeds after %s', async (_, happen) => {
      const delivery = happening();
      await happen(delivery);
      const count = (await delivery.stored())?.attempts.length ?? 0;
      const message = delivery.message({ attempt: 2 });
      expect(await delivery.record(message)).toBe(true);
      const after = await delivery.stored();
      expect(after).toMatchObject({ status: 'retrying', run: 0, attempt: 2, retryPending: true });
      expect(after?.attempts).toHaveLength(count + 1);
      expect(after?.attempts.at(-1)).toEqual(attemptOf(message));
    });

    it('changes nothing if another run of the message recorded it, queued or not', async () => {
      const { message, record, upTo, stored } = happening();
      await upTo(message({ attempt: 2 }));
      const before = await stored();
      expect(await record(message({ attempt: 2 }))).toBe(false);
      expect(await stored()).toEqual(before);
    });

    it.each(OVERTAKEN)('changes nothing if %s', async (_, happen) => {
      const delivery = happening();
      await happen(delivery);
      const before = await delivery.stored();
      expect(await delivery.record(delivery.message({ attempt: 2 }))).toBe(false);
      expect(await delivery.stored()).toEqual(before);
    });
  });

  describe('markRetried', () => {
    it('records only that the retry of the last attempt is queued', async () => {
      const { message, own, upTo, stored } = happening();
      await upTo(message({ attempt: 2 }));
      const before = await stored();
      await own.markRetried(message({ attempt: 2 }));
      expect(await stored()).toEqual({ ...before, retryPending: undefined });
    });

    it.each<Past>([
      ['a later attempt', ({ upTo, message }) => upTo(message({ attempt: 3 }))],
      ['a newer run', ({ upTo, message }) => upTo(message({ run: 1, attempt: 2 }))],
      ['an earlier attempt', ({ upTo, message }) => upTo(message({ attempt: 1 }))],
    ])('does not accept %s as its own write', async (_, happen) => {
      const delivery = happening();
      await happen(delivery);
      const before = await delivery.stored();
      expect(before?.retryPending).toBe(true);
      await delivery.own.markRetried(delivery.message({ attempt: 2 }));
      expect(await delivery.stored()).toEqual(before);
    });

    it('creates no delivery', async () => {
      const { message, own, stored } = happening();
      await own.markRetried(message());
      expect(await stored()).toBeUndefined();
    });
  });

  describe('end', () => {
    it('skips a delivery without an attempt', async () => {
      const { webhook, event, message, own, stored } = happening();
      await own.end(message(), event, 'skipped', now);
      expect(await stored()).toEqual({
        ...{ webhookId: webhook.id, eventId: event.id, eventType: event.type, status: 'skipped', run: 0, attempt: 0 },
        documentKey: event.documentKey,
        ...{ attempts: [], createdAt: now, endedAt: now },
      });
    });

    it('cancels a delivery in progress, and keeps its attempts', async () => {
      const { message, event, own, upTo, stored } = happening();
      await upTo(message());
      const before = await stored();
      await own.end(message({ attempt: 2 }), event, 'canceled', now + 1);
      const ended = { status: 'canceled', nextAttemptAt: undefined, retryPending: undefined, endedAt: now + 1 };
      expect(await stored()).toEqual({ ...before, ...ended });
    });

    it('cancels a newer run before its first attempt', async () => {
      const { message, event, own, upTo, startRun, stored } = happening();
      await upTo(message());
      await startRun(1);
      await own.end(message({ run: 1 }), event, 'canceled', now);
      expect(await stored()).toMatchObject({ status: 'canceled', run: 1, attempt: 0, attempts: [{ number: 1 }] });
    });

    it.each([
      ...OVERTAKEN,
      ['its attempt is recorded', ({ upTo, message }: Happening) => upTo(message({ attempt: 2 }))] as Past,
    ])('changes nothing if %s', async (_, happen) => {
      const delivery = happening();
      await happen(delivery);
      const before = await delivery.stored();
      await delivery.own.end(delivery.message({ attempt: 2 }), delivery.event, 'skipped', now + 1);
      expect(await delivery.stored()).toEqual(before);
    });
  });
});
