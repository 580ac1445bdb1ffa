import { describe, expect, it } from 'vitest';
import { endpoints } from '../../../lib/deliveries/endpoint-store.ts';
import { runKey } from '../../../lib/deliveries/record.ts';
import { webhooks } from '../../../lib/webhooks/store.ts';
import type { WebhookRecord } from '../../../lib/webhooks/webhook.ts';
import { newDelivery, newStoredEvent, now, recordOf } from './builders.ts';
import { stores } from './stores.ts';

const MINUTE_MS = 60_000;

describe.each(stores)('outages in $name', ({ table, lossy }) => {
  const own = endpoints(table);

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
      const { webhook, hook } = await delivering();
      await own.beginOutage(webhook, now);
      await own.beginOutage(webhook, now + 1);
      expect(await hook()).toEqual({ ...webhook, ...failing });
    });

    it('keeps the time of an earlier pause', async () => {
      const { webhook, hook } = await delivering({ undeliveredSince: now - 5 });
      await own.beginOutage(webhook, now);
      expect(await hook()).toEqual({ ...webhook, failingSince: now, undeliveredSince: now - 5 });
    });

    it('creates no webhook if it was deleted', async () => {
      const { webhook, hook, remove } = await delivering();
      await remove();
      await own.beginOutage(webhook, now);
      await own.endOutage(webhook, now);
      expect(await hook()).toBeUndefined();
    });
  });

  describe('endOutage', () => {
    it('removes all of its state', async () => {
      const known = { ...failing, disabledAt: now - 1, warnedBy: 'evt#0', warnedAt: now, warningUntil: now };
      const { webhook, hook } = await delivering(known);
      await own.endOutage(webhook, now);
      const forgotten = Object.fromEntries(Object.keys(known).map((name) => [name, undefined]));
      expect(await hook()).toEqual({ ...webhook, ...forgotten });
    });

    it.each<[string, Partial<WebhookRecord>]>([
      ['began after the success', { failingSince: now + 1, undeliveredSince: now + 1 }],
      ['began after the success, which followed a pause', { failingSince: now + 1, undeliveredSince: now - 1 }],
      ['disabled the webhook', { ...failing, status: 'disabled', disabledAt: now }],
      ['had the webhook disabled after the success', { ...failing, disabledAt: now + 1 }],
    ])('changes nothing if it %s', async (_, known) => {
      const { webhook, hook } = await delivering(known);
      await own.endOutage(webhook, now);
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
      await own.extendOutage(webhook, now);
      expect(await hook()).toEqual({ ...webhook, undeliveredSince: expected });
    });

    it('creates no webhook if it was deleted', async () => {
      const { webhook, hook, remove } = await delivering();
      await remove();
      await own.extendOutage(webhook, now);
      expect(await hook()).toBeUndefined();
    });
  });

  describe('the warning', () => {
    it('is claimed by one run for a minute, and then by the next one that asks', async () => {
      const { webhook, message, other } = await delivering(failing);
      const claims = [
        await own.claimEmail('failing', webhook, message, now),
        await own.claimEmail('failing', webhook, message, now + MINUTE_MS - 1),
        await own.claimEmail('failing', webhook, other, now + MINUTE_MS - 1),
        await own.claimEmail('failing', webhook, other, now + MINUTE_MS),
        await own.claimEmail('failing', webhook, message, now + MINUTE_MS),
      ];
      expect(claims).toEqual(['claimed', 'busy', 'sent', 'claimed', 'sent']);
    });

    it("is one delivery's of two at once", async () => {
      const { webhook, message, other } = await delivering(failing);
      const claims = await Promise.all([
        own.claimEmail('failing', webhook, message, now),
        own.claimEmail('failing', webhook, other, now),
      ]);
      expect(claims.sort()).toEqual(['claimed', 'sent']);
    });

    it('can be claimed immediately by any delivery after a release', async () => {
      const { webhook, message, other } = await delivering(failing);
      await own.claimEmail('failing', webhook, message, now);
      await own.releaseEmail('failing', webhook, message);
      expect(await own.claimEmail('failing', webhook, other, now)).toBe('claimed');
      expect(await own.claimEmail('failing', webhook, message, now)).toBe('sent');
    });

    it('is sent after it is marked, until the outage ends', async () => {
      const { webhook, message, other, hook } = await delivering(failing);
      await own.claimEmail('failing', webhook, message, now);
      await own.markEmailed('failing', webhook, message, now + 5);
      expect(await hook()).toMatchObject({ warnedBy: runKey(message), warnedAt: now + 5 });
      expect(await own.claimEmail('failing', webhook, message, now + 2 * MINUTE_MS)).toBe('sent');
      await own.endOutage(webhook, now + 5);
      await own.beginOutage(webhook, now + 6);
      expect(await own.claimEmail('failing', webhook, other, now + 7)).toBe('claimed');
    });

    it("is nobody's when there is no outage", async () => {
      const { webhook, message, hook } = await delivering();
      expect(await own.claimEmail('failing', webhook, message, now)).toBe('sent');
      await own.markEmailed('failing', webhook, message, now);
      await own.releaseEmail('failing', webhook, message);
      expect(await hook()).toEqual(webhook);
    });

    it('is claimed after a lost response', async () => {
      const { webhook, message } = await delivering(failing);
      expect(await endpoints(lossy).claimEmail('failing', webhook, message, now)).toBe('claimed');
      expect(await own.claimEmail('failing', webhook, message, now)).toBe('busy');
    });
  });

  describe('the email about an overload', () => {
    it('is sent once until the overload ends', async () => {
      const { webhook, message, other, hook } = await delivering();
      expect(await own.claimEmail('overloaded', webhook, message, now)).toBe('claimed');
      expect(await own.claimEmail('overloaded', webhook, other, now)).toBe('sent');
      await own.markEmailed('overloaded', webhook, message, now + 5);
      expect(await hook()).toMatchObject({ overloadedBy: runKey(message), overloadedAt: now + 5 });
      expect(await own.claimEmail('overloaded', webhook, other, now + 2 * MINUTE_MS)).toBe('sent');
      await own.endOverload(webhook, now + 4);
      expect(await own.claimEmail('overloaded', webhook, other, now + 2 * MINUTE_MS)).toBe('sent');
      await own.endOverload(webhook, now + 5);
      expect(await hook()).toEqual(webhook);
      expect(await own.claimEmail('overloaded', webhook, other, now + 2 * MINUTE_MS)).toBe('claimed');
    });

    it('creates no webhook if it was deleted', async () => {
      const { webhook, message, hook, remove } = await delivering();
      await remove();
      await own.claimEmail('overloaded', webhook, message, now);
      await own.endOverload(webhook, now);
      expect(await hook()).toBeUndefined();
    });
  });
});
