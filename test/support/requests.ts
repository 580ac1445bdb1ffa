import { expect } from 'vitest';
import { isUnderWay } from '../../lib/deliveries/statuses.ts';
import { EVENT_TYPES } from '../../lib/events/types.ts';
import { changed } from './changed.ts';
import { type Answer, type Client, eventually } from './service.ts';

export async function createWebhook(
  client: Client,
  url: string,
  overrides: object = {},
): Promise<{ id: string; secret: string }> {
  const answer = await client('POST', '/v1/webhooks', { body: { url, events: EVENT_TYPES, ...overrides } });
  expect(answer.status, answer.text).toBe(201);
  return answer.body;
}

/** Publishes events together. A 503 says that it may have taken effect: like any client, it sends the same request again. */
export async function publishAll(client: Client, events: readonly object[]): Promise<string[]> {
  const call = { body: { events }, headers: { 'Idempotency-Key': crypto.randomUUID() } };
  const answer = await eventually(async () => {
    const answer = await client('POST', '/v1/events/batch', call);
    return answer.status === 503 || answer.body.code === 'idempotency_in_progress' ? undefined : answer;
  });
  expect(answer.status, answer.text).toBe(202);
  return answer.body.data.map(({ id }: { id: string }) => id);
}

export async function publish(client: Client, event: object = changed()): Promise<Answer> {
  const answer = await client('POST', '/v1/events', { body: event });
  expect(answer.status, answer.text).toBe(202);
  return answer;
}

export interface Attempt {
  number: number;
  at: string;
  status_code: number | null;
  error: string | null;
  duration_ms: number;
  response_excerpt: string | null;
}

/** A delivery, once there is a record of it. */
export async function deliveryOf(client: Client, webhookId: string, eventId: string) {
  const { status, body } = await client('GET', `/v1/webhooks/${webhookId}/deliveries/${eventId}`);
  return status === 200 && !(body.status === 'pending' && body.attempts.length === 0) ? body : undefined;
}

/** A delivery, once no attempt is due any more. */
export function settled(client: Client, webhookId: string, eventId: string) {
  return eventually(async () => {
    const delivery = await deliveryOf(client, webhookId, eventId);
    return delivery && !isUnderWay(delivery.status) ? delivery : undefined;
  });
}
