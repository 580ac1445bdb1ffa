import { describe, expect, it } from 'vitest';
import { endpoints } from '../../../lib/deliveries/endpoint-store.ts';
import { deliveryLog } from '../../../lib/deliveries/log-store.ts';
import { runKey } from '../../../lib/deliveries/record.ts';
import { deliveries } from '../../../lib/deliveries/store.ts';
import { auditLog } from '../../../lib/projects/audit-store.ts';
import { webhooks } from '../../../lib/webhooks/store.ts';
import type { WebhookRecord } from '../../../lib/webhooks/webhook.ts';
import { attemptOf, newDelivery, now, recordOf, retrying } from './builders.ts';
import { newStore } from './stores.ts';

const DISABLED = { isRecorded: true, isEmailPending: true };
const RECORDED = { isRecorded: true, isEmailPending: false };
const UNCHANGED = { isRecorded: false, isEmailPending: false };

const { table } = newStore();

describe('disabling', () => {
  const own = endpoints(table);
  const log = deliveryLog(table);

  /** A webhook with a delivery whose last attempt is next. */
  async function nearTheEnd(of: Partial<WebhookRecord> = {}) {
    const { webhook, event, message } = newDelivery(of);
    await webhooks(table).create(webhook, []);
    const last = message({ attempt: 6 });
    await deliveries(table).record(message({ attempt: 5 }), event, attemptOf(message({ attempt: 5 })), retrying);
    return {
      ...{ webhook, event, message, last },
      exhaust: () => own.exhaust(webhook, last, event, attemptOf(last), now + 1),
      hook: async () => recordOf(await webhooks(table).get(webhook, webhook.id)),
      delivery: async () => recordOf(await log.get(webhook.id, event.id)),
      change: (change: Partial<WebhookRecord>) => webhooks(table).change(webhook, change),
    };
  }

  describe('exhaust', () => {
    it('records the attempt and disables the webhook', async () => {
      const { webhook, last, exhaust, hook, delivery } = await nearTheEnd();
      expect(await exhaust()).toEqual(DISABLED);
      const recorded = await delivery();
      expect(recorded).toMatchObject({ status: 'failed', attempt: 6, attempts: [{ number: 5 }, { number: 6 }] });
      expect([recorded?.nextAttemptAt, recorded?.retryPending]).toEqual([undefined, undefined]);
      expect(await hook()).toEqual({
        ...webhook,
        ...{ status: 'disabled', disabledReason: 'deliveries_failed', disabledBy: runKey(last) },
        ...{ disabledAt: now + 1, updatedAt: now + 1, failingSince: now, undeliveredSince: now },
      });
    });

    it('writes one audit entry without an actor', async () => {
      const { webhook, last, exhaust } = await nearTheEnd();
      await exhaust();
      await exhaust();
      const filter = { since: 0, actor: undefined, target: webhook.id };
      const { entries } = await auditLog(table).list(webhook.projectId, filter, 10);
      const change = { action: 'webhook.disabled', actor: null, address: null, at: now + 1 };
      const detail = { environment: webhook.environment, event_id: last.eventId };
      expect(entries).toEqual([expect.objectContaining({ ...change, target: webhook.id, detail })]);
    });

    it('keeps the start of an outage', async () => {
      const { exhaust, hook } = await nearTheEnd({ failingSince: now - 9, undeliveredSince: now - 10 });
      await exhaust();
      expect(await hook()).toMatchObject({ failingSince: now - 9, undeliveredSince: now - 10 });
    });

    it.each<[string, (delivery: Awaited<ReturnType<typeof nearTheEnd>>) => Promise<unknown>]>([
      ['paused', ({ change }) => change({ status: 'disabled', disabledReason: 'paused' })],
      ['deleted', ({ webhook }) => webhooks(table).remove(webhook, webhook.id)],
    ])('records the attempt and keeps a webhook that was %s concurrently', async (_, happen) => {
      const delivery = await nearTheEnd();
      await happen(delivery);
      const before = await delivery.hook();
      expect(await delivery.exhaust()).toEqual(RECORDED);
      expect(await delivery.delivery()).toMatchObject({ status: 'failed', attempt: 6 });
      expect(await delivery.hook()).toEqual(before);
    });

    it("is still this delivery's while the email is owed, and records no attempt twice", async () => {
      const { webhook, last, exhaust, hook, delivery } = await nearTheEnd();
      await exhaust();
      const before = [await hook(), await delivery()];
      expect(await exhaust()).toEqual({ isRecorded: false, isEmailPending: true });
      await own.claimEmail('disabled', webhook, last, now);
      expect(await exhaust()).toEqual({ isRecorded: false, isEmailPending: true });
      await own.markEmailed('disabled', webhook, last, now);
      expect(await exhaust()).toEqual(UNCHANGED);
      expect(await delivery()).toEqual(before[1]);
      expect(await hook()).toEqual({ ...before[0], emailedAt: now });
    });

    it('disables nothing if a newer run has started', async () => {
      const { webhook, event, message, exhaust, hook, delivery } = await nearTheEnd();
      await deliveries(table).record(message({ run: 1 }), event, attemptOf(message({ run: 1 })), retrying);
      const before = await delivery();
      expect(await exhaust()).toEqual(UNCHANGED);
      expect(await delivery()).toEqual(before);
      expect(await hook()).toEqual(webhook);
    });
  });

  describe('the email', () => {
    it.each<[string, (webhook: WebhookRecord) => Promise<unknown>]>([
      ['enabled again', (webhook) => webhooks(table).change(webhook, { status: 'enabled', disabledBy: undefined })],
      ['disabled by another delivery', (webhook) => webhooks(table).change(webhook, { disabledBy: 'evt_other#0' })],
      [
        'disabled by another run',
        ({ disabledBy, ...webhook }) =>
          webhooks(table).change({ disabledBy, ...webhook }, { disabledBy: disabledBy?.replace('#0', '#1') }),
      ],
      ['deleted', (webhook) => webhooks(table).remove(webhook, webhook.id)],
    ])("is nobody's about a webhook that was %s meanwhile", async (_, happen) => {
      const { webhook, last, exhaust, hook } = await nearTheEnd();
      await exhaust();
      await happen((await hook()) as WebhookRecord);
      const before = await hook();
      expect(await own.claimEmail('disabled', webhook, last, now)).toBe('sent');
      await own.releaseEmail('disabled', webhook, last);
      await own.markEmailed('disabled', webhook, last, now);
      expect(await hook()).toEqual(before);
    });
  });
});
