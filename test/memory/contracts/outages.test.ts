import { describe, expect, it } from 'vitest';
import type { DeliverDeps } from '../../../lib/deliveries/deliver.ts';
import { outages } from '../../../lib/deliveries/endpoint-store.ts';
import { runKey } from '../../../lib/deliveries/messages.ts';
import type { EmailClaims } from '../../../lib/deliveries/outage.ts';
import type { Recovery } from '../../../lib/deliveries/recovery.ts';
import { webhooks } from '../../../lib/webhooks/store.ts';
import type { WebhookRecord } from '../../../lib/webhooks/webhook.ts';
import { newDelivery, newStoredEvent, now, recordOf } from './builders.ts';
import { stores } from './stores.ts';

type Outages = Pick<DeliverDeps, 'beginOutage' | 'endOutage' | 'endOverload'> &
  Pick<Recovery, 'extendOutage'> &
  Record<'warning' | 'overload', EmailClaims>;

const MINUTE_MS = 60_000;

describe.each(stores)('outages in $name', ({ table, lossy }) => {
  const own = outages(table) satisfies Outages;

  /** A webhook with a delivery, and another webhook. */
  async function delivering(of: Partial<WebhookRecord> = {}) {
    const { webhook, message } = newDelivery(of);
    await webhooks(table).create(webhook, []);
    return {
      ...{ webhook, message: message({ attempt: 4 }) },
      other: message({ attempt: 4, eventId: newStoredEvent(webhook).id }),
      hook: async () => recordOf(await webhooks(table).get(webhook, webhook.id)),
      remove: () => webhooks(table).remove(webhook, webhook.id),
    };
  }
  const failing = { failingSince: now, undeliveredSince: now };

  describe('beginOutage', () => {
    it('stores only the first failed attempt', async () => {
      const { webhook, message, other, hook } = await delivering();
      await own.beginOutage(message, now);
      await own.beginOutage(other, now + 1);
      expect(await hook()).toEqual({ ...webhook, ...failing });
    });

    it('keeps the time of an earlier pause', async () => {
      const { webhook, message, hook } = await delivering({ undeliveredSince: now - 5 });
      await own.beginOutage(message, now);
      expect(await hook()).toEqual({ ...webhook, failingSince: now, undeliveredSince: now - 5 });
    });

    it('creates no webhook if it was deleted', async () => {
      const { message, hook, remove } = await delivering();
      await remove();
      await own.beginOutage(message, now);
      await own.endOutage(message, now);
      expect(await hook()).toBeUndefined();
    });
  });

  describe('endOutage', () => {
    it('removes all of its state', async () => {
      const known = { ...failing, disabledAt: now - 1, warnedBy: 'evt#0', warnedAt: now, warningUntil: now };
      const { webhook, message, hook } = await delivering(known);
      await own.endOutage(message, now);
      const forgotten = Object.fromEntries(Object.keys(known).map((name) => [name, undefined]));
      expect(await hook()).toEqual({ ...webhook, ...forgotten });
    });

    it.each<[string, Partial<WebhookRecord>]>([
      ['began after the success', { failingSince: now + 1, undeliveredSince: now + 1 }],
      ['began after the success, which followed a pause', { failingSince: now + 1, undeliveredSince: now - 1 }],
      ['disabled the webhook', { ...failing, status: 'disabled', disabledAt: now }],
      ['had the webhook disabled after the success', { ...failing, disabledAt: now + 1 }],
    ])('changes nothing if it %s', async (_, known) => {
      const { webhook, message, hook } = await delivering(known);
      await own.endOutage(message, now);
      expect(await hook()).toEqual(webhook);
    });
  });

  describe('extendOutage', () => {
    it.each([
      ['has none', {}, now],
      ['started later', { undeliveredSince: now + 1 }, now],
      ['started earlier', { undeliveredSince: now - 1 }, now - 1],
    ])('moves the start back, but never forward, if it %s', async (_, known, expected) => {
      const { webhook, hook } = await delivering(known);
      await own.extendOutage(webhook, webhook.id, now);
      expect(await hook()).toEqual({ ...webhook, undeliveredSince: expected });
    });

    it('creates no webhook if it was deleted', async () => {
      const { webhook, hook, remove } = await delivering();
      await remove();
      await own.extendOutage(webhook, webhook.id, now);
      expect(await hook()).toBeUndefined();
    });
  });

  describe('the warning', () => {
    it('is claimed by one run for a minute, and then by the next one that asks', async () => {
      const { message, other } = await delivering(failing);
      const claims = [
        await own.warning.claim(message, now),
        await own.warning.claim(message, now + MINUTE_MS - 1),
        await own.warning.claim(other, now + MINUTE_MS - 1),
        await own.warning.claim(other, now + MINUTE_MS),
        await own.warning.claim(message, now + MINUTE_MS),
      ];
      expect(claims).toEqual(['claimed', 'busy', 'sent', 'claimed', 'sent']);
    });

    it("is one delivery's of two at once", async () => {
      const { message, other } = await delivering(failing);
      const claims = await Promise.all([own.warning.claim(message, now), own.warning.claim(other, now)]);
      expect(claims.sort()).toEqual(['claimed', 'sent']);
    });

    it('can be claimed immediately by any delivery after a release', async () => {
      const { message, other } = await delivering(failing);
      await own.warning.claim(message, now);
      await own.warning.release(message);
      expect(await own.warning.claim(other, now)).toBe('claimed');
      expect(await own.warning.claim(message, now)).toBe('sent');
    });

    it('is sent after it is marked, until the outage ends', async () => {
      const { message, other, hook } = await delivering(failing);
      await own.warning.claim(message, now);
      await own.warning.markSent(message, now + 5);
      expect(await hook()).toMatchObject({ warnedBy: runKey(message), warnedAt: now + 5 });
      expect(await own.warning.claim(message, now + 2 * MINUTE_MS)).toBe('sent');
      await own.endOutage(message, now + 5);
      await own.beginOutage(other, now + 6);
      expect(await own.warning.claim(other, now + 7)).toBe('claimed');
    });

    it("is nobody's when there is no outage", async () => {
      const { webhook, message, hook } = await delivering();
      expect(await own.warning.claim(message, now)).toBe('sent');
      await own.warning.markSent(message, now);
      await own.warning.release(message);
      expect(await hook()).toEqual(webhook);
    });

    it('is claimed after a lost response', async () => {
      const { message } = await delivering(failing);
      expect(await outages(lossy).warning.claim(message, now)).toBe('claimed');
      expect(await own.warning.claim(message, now)).toBe('busy');
    });
  });

  describe('the email about an overload', () => {
    it('is sent once until the overload ends', async () => {
      const { webhook, message, other, hook } = await delivering();
      expect(await own.overload.claim(message, now)).toBe('claimed');
      expect(await own.overload.claim(other, now)).toBe('sent');
      await own.overload.markSent(message, now + 5);
      expect(await hook()).toMatchObject({ overloadedBy: runKey(message), overloadedAt: now + 5 });
      expect(await own.overload.claim(other, now + 2 * MINUTE_MS)).toBe('sent');
      await own.endOverload(other, now + 4);
      expect(await own.overload.claim(other, now + 2 * MINUTE_MS)).toBe('sent');
      await own.endOverload(other, now + 5);
      expect(await hook()).toEqual(webhook);
      expect(await own.overload.claim(other, now + 2 * MINUTE_MS)).toBe('claimed');
    });

    it('creates no webhook if it was deleted', async () => {
      const { message, hook, remove } = await delivering();
      await remove();
      await own.overload.claim(message, now);
      await own.endOverload(message, now);
      expect(await hook()).toBeUndefined();
    });
  });
});
