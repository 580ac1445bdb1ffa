import type { Attempt } from '../../../lib/deliveries/attempt.ts';
import { type DeliveryMessage, firstMessage } from '../../../lib/deliveries/messages.ts';
import type { DeliveryRecord } from '../../../lib/deliveries/record.ts';
import { sampleData } from '../../../lib/events/data.ts';
import { eventWithId, type StoredEvent } from '../../../lib/events/event.ts';
import type { WebhookRecord } from '../../../lib/webhooks/webhook.ts';

/** The time of all events in these tests. */
export const now = Date.parse('2026-01-31T12:00:00.000Z');
export const space = { projectId: 'prj_1', environment: 'live' } as const;

/** An enabled webhook that is not in the quick lane. */
export const webhook = (overrides: Partial<WebhookRecord> = {}): WebhookRecord => ({
  ...space,
  id: 'whk_1',
  url: 'https://example.com/',
  events: ['document.deleted'],
  description: null,
  secret: 'secret',
  status: 'enabled',
  createdAt: now,
  updatedAt: now,
  ...overrides,
});

export const event = (overrides: Partial<StoredEvent> = {}): StoredEvent => ({
  ...eventWithId({
    ...space,
    id: 'evt_1',
    at: now,
    type: 'document.deleted',
    data: sampleData('document.deleted', now),
  }),
  ...overrides,
});

/** A delivery whose first attempt failed. */
export const record = (overrides: Partial<DeliveryRecord> = {}): DeliveryRecord => ({
  webhookId: 'whk_1',
  eventId: 'evt_1',
  eventType: 'document.deleted',
  status: 'retrying',
  run: 0,
  attempt: 1,
  attempts: [],
  createdAt: now,
  ...overrides,
});

/** An attempt at `https://example.com/` with the response 500 after 10 ms. */
export const attempt = (overrides: Partial<Attempt> = {}): Attempt => ({
  number: 1,
  trigger: 'schedule',
  at: now,
  statusCode: 500,
  error: 'status_not_2xx',
  durationMs: 10,
  excerpt: null,
  url: 'https://example.com/',
  sent: [],
  ...overrides,
});

export const message = (overrides: Partial<DeliveryMessage> = {}): DeliveryMessage => ({
  ...firstMessage(space, 'whk_1', 'evt_1'),
  ...overrides,
});
