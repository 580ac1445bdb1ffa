import type { StoredEvent } from '../events/events.ts';
import type { Space } from '../space.ts';
import type { WebhookRecord } from '../webhooks/webhooks.ts';
import { type Lane, laneOf } from './lanes.ts';
import { type DeliveryMessage, firstMessage } from './messages.ts';

export interface FanOut {
  /** To be sent, by lane. */
  lanes: Map<Lane, DeliveryMessage[]>;
  /** Their webhooks are disabled: recorded, so that `recover` finds them. */
  skipped: DeliveryMessage[];
}

/** Whom an event goes to: every webhook of its space that is subscribed to its type; a test event, to its one webhook. */
export function fanOut(event: StoredEvent, webhooks: readonly WebhookRecord[], nowMs: number): FanOut {
  if (event.webhookId !== undefined) {
    const test = firstMessage(event, event.webhookId, event.id, { trigger: 'test' });
    return { lanes: new Map([['new', [test]]]), skipped: [] }; // most are of new webhooks
  }
  const message = ({ id }: WebhookRecord) => firstMessage(event, id, event.id);
  // Skip webhooks created after the event; the functions' clocks differ by less than a request takes.
  const subscribed = webhooks.filter(({ events, createdAt }) => events.includes(event.type) && createdAt <= event.at);
  const lanes = new Map<Lane, DeliveryMessage[]>();
  for (const webhook of subscribed.filter(({ status }) => status === 'enabled')) {
    const lane = laneOf(webhook, nowMs);
    lanes.set(lane, [...(lanes.get(lane) ?? []), message(webhook)]);
  }
  return { lanes, skipped: subscribed.filter(({ status }) => status === 'disabled').map(message) };
}

export interface FanOutDeps {
  /** Every webhook of a space. */
  webhooks(space: Space): Promise<readonly WebhookRecord[]>;
  /** Hands messages to the queue of a lane. At least once. */
  enqueue(lane: Lane, messages: readonly DeliveryMessage[]): Promise<void>;
  /** Records that an event was not sent. */
  skip(message: DeliveryMessage, event: StoredEvent): Promise<void>;
  clock(): number;
}

/** Sends events on, each by itself: if it throws, that event must come again. The webhooks of a space are read once. */
export function fanOutBatch({ webhooks, enqueue, skip, clock }: FanOutDeps) {
  const lists = new Map<string, Promise<readonly WebhookRecord[]>>();
  const webhooksOf = (space: Space) => {
    const id = `${space.projectId} ${space.environment}`;
    const list = lists.get(id) ?? webhooks(space);
    lists.set(id, list);
    return list;
  };
  return async (event: StoredEvent): Promise<{ deliveries: number; skipped: number }> => {
    const { lanes, skipped } = fanOut(event, event.webhookId ? [] : await webhooksOf(event), clock());
    const sent = [...lanes].map(([lane, messages]) => enqueue(lane, messages));
    await Promise.all([...sent, ...skipped.map((message) => skip(message, event))]);
    const deliveries = [...lanes.values()].reduce((sum, { length }) => sum + length, 0);
    return { deliveries, skipped: skipped.length };
  };
}
