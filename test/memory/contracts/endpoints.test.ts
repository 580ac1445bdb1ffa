import { describe, expect, it } from 'vitest';
import { endpoints } from '../../../lib/deliveries/endpoint-store.ts';
import { type RunId, runKey } from '../../../lib/deliveries/record.ts';
import type { WebhookState } from '../../../lib/webhooks/email-state.ts';
import { webhooks } from '../../../lib/webhooks/store.ts';
import type { WebhookRecord } from '../../../lib/webhooks/webhook.ts';
import { attempt } from '../../unit/deliveries/builders.ts';
import { newDelivery, newStoredEvent, now, recordOf } from './builders.ts';
import { newStore } from './stores.ts';

const MINUTE_MS = 60_000;

const { table } = newStore();

describe('endpoints', () => {
  const own = endpoints(table);

  /** A webhook with a delivery, and another webhook. */
  async function delivering(of: Partial<WebhookRecord> = {}) {
    const { webhook, message } = newDelivery(of);
    await webhooks(table).create(webhook, []);
    return {
      ...{ webhook, message: message({ attempt: 4 }) },
      other: message({ attempt: 4, eventId: newStoredEvent(webhook).id }),
      hook: async () => recordOf(await webhooks(table).get(webhook, webhook.id)),
      remove: () => webhooks(table).remove(webhook, webhook.id, now),
    };
  }
  const failing = { failingSince: now, undeliveredSince: now };

  it.each<[string, (webhook: WebhookRecord, run: RunId) => Promise<unknown>]>([
    ['suspect', (webhook) => own.suspect(webhook, now + 1, now)],
    ['setPace', (webhook) => own.setPace(webhook, { quickSince: now })],
    ['beginOutage', (webhook) => own.beginOutage(webhook, now)],
    ['endOutage', (webhook) => own.endOutage(webhook, now)],
    ['extendOutage', (webhook) => own.extendOutage(webhook, now)],
    ['endOverload', (webhook) => own.endOverload(webhook, now)],
    [
      'recordLastFailure',
      (webhook, run) => own.recordLastFailure(webhook, run, newStoredEvent(webhook), attempt(), now),
    ],
    ...(['disabled', 'failing', 'overloaded'] as const).map(
      (what): [string, (webhook: WebhookRecord, run: RunId) => Promise<unknown>] => [
        `an email about a webhook that was ${what}`,
        async (webhook, run) => {
          await own.claimEmail(what, webhook, run, now);
          await own.releaseEmail(what, webhook, run);
          await own.markEmailed(what, webhook, run, now);
        },
      ],
    ),
  ])('creates no webhook that is deleted: %s', async (_, write) => {
    const { webhook, message, hook, remove } = await delivering();
    await remove();
    await write(webhook, message);
    expect(await hook()).toBeUndefined();
  });

  it('sends the next messages to the slow lane again after its time', async () => {
    const { webhook, hook } = await delivering({ slowUntil: now });
    expect(await own.suspect(webhook, now + 6000, now)).toBe(true);
    expect(await hook()).toEqual({ ...webhook, slowUntil: now + 6000 });
    expect(await own.suspect(webhook, now + 6000, now)).toBe(false);
  });

  it.each([
    now,
    now - 5,
  ])('stores only the first failed attempt, in an outage since it or a pause: %i', async (since) => {
    const { webhook, hook } = await delivering(since === now ? {} : { undeliveredSince: since });
    await own.beginOutage(webhook, now);
    await own.beginOutage(webhook, now + 1);
    expect(await hook()).toEqual({ ...webhook, failingSince: now, undeliveredSince: since });
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
      ['began after the success, which followed a pause', { failingSince: now + 1, undeliveredSince: now - 1 }],
      ['disabled the webhook', { ...failing, status: 'disabled', disabledAt: now }],
      ['had the webhook disabled after the success', { ...failing, disabledAt: now + 1 }],
    ])('changes nothing if it %s', async (_, known) => {
      const { webhook, hook } = await delivering(known);
      await own.endOutage(webhook, now);
      expect(await hook()).toEqual(webhook);
    });
  });

  it('moves the start of an outage only back', async () => {
    const { webhook, hook } = await delivering({ undeliveredSince: now - 1 });
    await own.extendOutage(webhook, now);
    expect(await hook()).toEqual(webhook);
  });

  /** The state before each email, the member with its time, and whether another delivery can send it after a failure. */
  const EMAILS: [
    WebhookState,
    (run: RunId) => Partial<WebhookRecord>,
    'emailedAt' | 'warnedAt' | 'overloadedAt',
    boolean,
  ][] = [
    ['disabled', (run) => ({ status: 'disabled', disabledBy: runKey(run) }), 'emailedAt', false],
    ['failing', () => failing, 'warnedAt', true],
    ['overloaded', () => ({}), 'overloadedAt', true],
  ];

  describe.each(EMAILS)('the email about a webhook that is %s', (what, state, sentAt, isShared) => {
    async function emailing() {
      const { webhook, message, other, hook } = await delivering();
      await webhooks(table).change(webhook, state(message));
      const claim = (run: RunId, at = now) => own.claimEmail(what, webhook, run, at);
      return { webhook, message, other, hook, claim };
    }

    it('is claimed by one run for a minute', async () => {
      const { message, other, claim } = await emailing();
      const claims = [];
      for (const at of [now, now + MINUTE_MS - 1, now + MINUTE_MS, now + MINUTE_MS + 1])
        claims.push([await claim(message, at), await claim(other, at)]);
      const [made, held] = [
        ['claimed', 'sent'],
        ['busy', 'sent'],
      ];
      expect(claims).toEqual([made, held, made, held]);
      expect(await claim(other, now + 2 * MINUTE_MS)).toBe(isShared ? 'claimed' : 'sent');
    });

    it('can be claimed immediately after a release', async () => {
      const { webhook, message, other, claim } = await emailing();
      await claim(message);
      await own.releaseEmail(what, webhook, message);
      const next = isShared ? other : message;
      expect(await claim(next)).toBe('claimed');
      await own.releaseEmail(what, webhook, isShared ? message : other); // no longer its claim
      expect(await claim(next)).toBe('busy');
    });

    it('is sent after it is marked, at any time', async () => {
      const { webhook, message, other, hook, claim } = await emailing();
      await claim(message);
      await own.markEmailed(what, webhook, message, now + 5);
      await own.markEmailed(what, webhook, other, now + 6); // not its claim
      expect((await hook())?.[sentAt]).toBe(now + 5);
      for (const run of [message, other])
        expect([await claim(run), await claim(run, now + 2 * MINUTE_MS)]).toEqual(['sent', 'sent']);
    });
  });

  it('warns again in the next outage, and never without one', async () => {
    const { webhook, message, other, hook } = await delivering(failing);
    await own.claimEmail('failing', webhook, message, now);
    await own.markEmailed('failing', webhook, message, now + 5);
    await own.endOutage(webhook, now + 5);
    expect(await own.claimEmail('failing', webhook, other, now + 6)).toBe('sent');
    const ended = Object.fromEntries(Object.keys(failing).map((name) => [name, undefined]));
    expect(await hook()).toEqual({ ...webhook, ...ended });
    await own.beginOutage(webhook, now + 6);
    expect(await own.claimEmail('failing', webhook, other, now + 7)).toBe('claimed');
  });

  it('ends an overload only with an attempt after its email', async () => {
    const { webhook, message, other, hook } = await delivering();
    await own.claimEmail('overloaded', webhook, message, now);
    await own.markEmailed('overloaded', webhook, message, now + 5);
    await own.endOverload(webhook, now + 4);
    expect(await own.claimEmail('overloaded', webhook, other, now + 6)).toBe('sent');
    await own.endOverload(webhook, now + 5);
    expect(await hook()).toEqual(webhook);
    expect(await own.claimEmail('overloaded', webhook, other, now + 6)).toBe('claimed');
  });
});
