import { randomBytes as random } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { type DeliveriesDeps, deliveryHandlers } from '../../../lib/deliveries/handlers.ts';
import type { QueueMessage } from '../../../lib/deliveries/messages.ts';
import { notFound } from '../../../lib/http/problems.ts';
import type { WebhookRecord } from '../../../lib/webhooks/webhook.ts';
import { newDelivery, now } from '../../memory/contracts/builders.ts';
import { requestOf } from './requests.ts';

/** The handlers for a webhook with one undelivered event. Each read returns the next version of the webhook. */
function setUp(versions: (of: WebhookRecord) => (WebhookRecord | undefined)[]) {
  const { webhook, event } = newDelivery();
  const reads = versions(webhook);
  const enqueued: QueueMessage[] = [];
  const deps = {
    webhooks: { get: async () => reads.shift() },
    events: { get: async () => event },
    deliveries: { get: async () => undefined, countRecoverable: async () => 1 },
    enqueue: async (messages: readonly QueueMessage[]) => void enqueued.push(...messages),
    clock: () => now,
    random,
  };
  const path = { id: webhook.id, event_id: event.id };
  const request = requestOf({ projectId: webhook.projectId }, { body: { enable: true }, path });
  const query = { since: undefined, until: undefined };
  return { enqueued, request: { ...request, query }, event, ...deliveryHandlers(deps as unknown as DeliveriesDeps) };
}
const none = () => [];

describe('the deletion of a webhook', () => {
  it('stops a concurrent recovery before it enqueues messages', async () => {
    const { recover, request, enqueued } = setUp((webhook) => [{ ...webhook, status: 'disabled' }, undefined]);
    expect(await recover(request, none, undefined)).toEqual(notFound('webhook'));
    expect(enqueued).toEqual([]);
  });

  it('hides the pending delivery and the recovery that the webhook had before', async () => {
    const { getDelivery, countRecovery, request, event } = setUp((webhook) => [webhook, webhook]);
    const pending = { event_id: event.id, status: 'pending', attempts: [] };
    expect(await getDelivery(request, none, undefined)).toMatchObject({ body: pending });
    expect(await countRecovery(request, none, undefined)).toEqual({ body: { count: 1 } });
    expect(await getDelivery(request, none, undefined)).toEqual(notFound('delivery'));
    expect(await countRecovery(request, none, undefined)).toEqual(notFound('webhook'));
  });
});
