import { matchesAny } from '../documents/patterns.ts';
import type { StoredEvent } from '../events/event.ts';
import type { WebhookRecord } from './webhook.ts';

/**
 * Whether an event goes to a webhook. Webhooks that were created later do not get it. A test event goes to its own webhook alone.
 * The clocks of functions differ by less than the duration of a request.
 */
export function isSubscribed(
  { id, events, documents = [], createdAt }: WebhookRecord,
  { type, at, documentKey, webhookId }: StoredEvent,
): boolean {
  if (webhookId !== undefined) return webhookId === id;
  if (!events.includes(type) || createdAt > at) return false;
  return documents.length === 0 || (documentKey !== undefined && matchesAny(documents, documentKey));
}
