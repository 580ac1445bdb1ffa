import { type DeliveryMessage, firstMessage } from './delivery.ts';
import type { StoredEvent } from './events.ts';
import type { WebhookRecord } from './webhooks.ts';

export interface FanOut {
  /** To be sent. */
  messages: DeliveryMessage[];
  /** Their webhooks are disabled: recorded, so that `recover` finds them. */
  skipped: DeliveryMessage[];
}

/** Whom an event goes to: every webhook of its space that is subscribed to its type; a test event, to its one webhook. */
export function fanOut(event: StoredEvent, webhooks: readonly WebhookRecord[]): FanOut {
  const message = ({ id }: Pick<WebhookRecord, 'id'>) => firstMessage(event, id, event.id);
  if (event.webhookId !== undefined) return { messages: [message({ id: event.webhookId })], skipped: [] };
  // Not to one that is younger than the event; the functions' clocks differ by less than a request takes.
  const subscribed = webhooks.filter(({ events, createdAt }) => events.includes(event.type) && createdAt <= event.at);
  return {
    messages: subscribed.filter(({ status }) => status === 'enabled').map(message),
    skipped: subscribed.filter(({ status }) => status === 'disabled').map(message),
  };
}
