import type { DeliverDeps, DeliveryContext } from '../../lib/delivery/deliver.ts';
import { type DeliveryMessage, firstMessage } from '../../lib/delivery/messages.ts';
import type { Attempt, DeliveryRecord } from '../../lib/delivery/record.ts';
import { newEvent, type StoredEvent } from '../../lib/events/events.ts';
import { sampleData } from '../../lib/events/samples.ts';
import type { WebhookRecord } from '../../lib/webhooks/webhooks.ts';

/** The time at which everything here happens. */
export const now = Date.parse('2026-01-31T12:00:00.000Z');
export const space = { projectId: 'prj_1', environment: 'live' } as const;

/** An enabled webhook that has not yet earned the quick lane. */
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
  ...newEvent({ ...space, id: 'evt_1', at: now, type: 'document.deleted', data: sampleData('document.deleted', now) }),
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

/** An attempt that was answered 500 after 10 ms. */
export const attempt = (overrides: Partial<Attempt> = {}): Attempt => ({
  number: 1,
  trigger: 'schedule',
  at: now,
  statusCode: 500,
  error: 'status_not_2xx',
  durationMs: 10,
  excerpt: null,
  ...overrides,
});

export const message = (overrides: Partial<DeliveryMessage> = {}): DeliveryMessage => ({
  ...firstMessage(space, 'whk_1', 'evt_1'),
  ...overrides,
});

/** What a message of an event to a webhook refers to. */
export const referred = (overrides: Partial<DeliveryContext> = {}): DeliveryContext => ({
  webhook: webhook(),
  event: event(),
  delivery: undefined,
  ...overrides,
});

/** A deliverer that notes what it is asked for, in order. */
export function deliverer(overrides: Partial<DeliverDeps> = {}) {
  const done: string[] = [];
  const noting =
    <Result>(name: string, result: Result) =>
    async () => {
      done.push(name);
      return result;
    };
  const deps: DeliverDeps = {
    lane: 'slow',
    clock: () => now,
    post: noting('post', { statusCode: 200, error: null, durationMs: 10, waitedMs: 10, excerpt: null }),
    retry: noting('retry', undefined),
    defer: noting('defer', undefined),
    setPace: noting('setPace', undefined),
    warn: (name) => void done.push(name),
    record: noting('record', true),
    markRetried: noting('markRetried', undefined),
    exhaust: noting('exhaust', 'disabled' as const),
    end: noting('end', undefined),
    claimEmail: noting('claimEmail', 'claimed' as const),
    releaseEmail: noting('releaseEmail', undefined),
    notify: noting('notify', undefined),
    markEmailed: noting('markEmailed', undefined),
    beginOutage: noting('beginOutage', undefined),
    endOutage: noting('endOutage', undefined),
    claimWarning: noting('claimWarning', 'claimed' as const),
    releaseWarning: noting('releaseWarning', undefined),
    markWarned: noting('markWarned', undefined),
    sendWarning: noting('sendWarning', undefined),
    ...overrides,
  };
  return { done, deps };
}
