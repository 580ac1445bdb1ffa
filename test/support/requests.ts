import { expect } from 'vitest';
import { isUnderWay } from '../../lib/deliveries/retry-schedule.ts';
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

/** Publishes events together. After a 503, it repeats the same request, because the outcome is unknown. */
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

/** Waits for the record of a delivery. */
export async function deliveryOf(client: Client, webhookId: string, eventId: string) {
  const { status, body } = await client('GET', `/v1/webhooks/${webhookId}/deliveries/${eventId}`);
  return status === 200 && !(body.status === 'pending' && body.attempts.length === 0) ? body : undefined;
}

/** Waits until a delivery has no more attempts. */
export function settled(client: Client, webhookId: string, eventId: string) {
  return eventually(async () => {
    const delivery = await deliveryOf(client, webhookId, eventId);
    return delivery && !isUnderWay(delivery.status) ? delivery : undefined;
  });
}
