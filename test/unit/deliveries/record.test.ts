import { describe, expect, it } from 'vitest';
import { pendingDelivery } from '../../../lib/deliveries/record.ts';
import type { StoredEvent } from '../../../lib/events/event.ts';
import type { WebhookRecord } from '../../../lib/webhooks/webhook.ts';
import { event, now, webhook } from './builders.ts';

describe('a delivery without a record', () => {
  it.each<[string, Partial<WebhookRecord>, Partial<StoredEvent>, number, boolean]>([
    ['is awaited', {}, {}, now, true],
    ['is not awaited of an event that is for others', { events: ['sync.conflict'] }, {}, now, false],
    ['is awaited since its subscription last changed', { subscribedAt: now }, {}, now, true],
    ['is not awaited of an earlier event', { subscribedAt: now + 1 }, {}, now, false],
    [
      'is awaited of an earlier test',
      { subscribedAt: now + 1, documents: ['none'] },
      { webhookId: 'whk_1' },
      now,
      true,
    ],
    ['is not awaited of a test of another webhook', {}, { webhookId: 'whk_2' }, now, false],
    ['is not awaited when its event is no longer kept', {}, {}, now + 30 * 24 * 60 * 60 * 1000, false],
  ])('%s', (_, of, occurred, at, expected) => {
    expect(pendingDelivery(event(occurred), webhook(of), at) !== undefined).toBe(expected);
  });

  it('is pending since the time of its event', () => {
    expect(pendingDelivery(event({ documentKey: 'a' }), webhook(), now)).toMatchObject({
      ...{ status: 'pending', run: 0, attempts: [], createdAt: now, documentKey: 'a' },
    });
    expect(pendingDelivery(event(), webhook(), now)?.test).toBeUndefined();
    expect(pendingDelivery(event({ webhookId: 'whk_1' }), webhook(), now)?.test).toBe(true);
  });
});
