import type { Context, DynamoDBRecord } from 'aws-lambda';
import { FairOrder } from '../../infra/local/services/fair-order.ts';
import { itemKey } from '../../lib/aws/items.ts';
import { isDelivery, type QueueMessage } from '../../lib/deliveries/messages.ts';
import type { StoredEvent } from '../../lib/events/event.ts';
import { putEvents } from '../../lib/events/store.ts';
import { bucketOf } from '../../lib/ids.ts';
import type { WebhookRecord } from '../../lib/webhooks/webhook.ts';
import { createEntry, queueRecord, streamRecord } from './entries.ts';
import { memoryBackend } from './memory-table.ts';

/*
 * A model of the time from an event to its first attempts on AWS, with the defaults of the template. The fan-out and the lane run
 * their deployed code, without time, and this file states how long their work takes. A test on one machine cannot measure it, because
 * the functions share its CPU.
 */

/** The shards of the stream of a new table, with two batches each. Lambda polls an idle shard four times per second. */
const SHARDS = 8;
const POLL_MS = 250;
const BATCH_OF_STREAM = 100;
/** The concurrent batches of a lane, and their messages. */
const BATCHES_OF_LANE = 150;
const BATCH_OF_LANE = 10;
/** The start of an invocation, with its first calls. */
const INVOCATION_MS = 20;
/** The CPU time with 512 MB (`npm run bench -- cpu`) for sending a message, and for a delivery. */
const SENDING_MS = 0.6;
const DELIVERY_MS = 10;
/** The time that endpoints take to respond. */
const RESPONSE_MS = 100;

interface Waiting {
  message: QueueMessage;
  group: string;
}

/** The milliseconds from each event to its first attempt at each webhook, by the id of the webhook. */
export async function firstAttempts(
  events: readonly StoredEvent[],
  webhooks: readonly WebhookRecord[],
): Promise<Map<string, number[]>> {
  let now = Math.min(...events.map(({ at }) => at));
  const tasks: { at: number; run: () => Promise<void> | void }[] = [];
  let sent: Waiting[] = [];
  const { runtime, db } = memoryBackend({ clock: () => now }, ({ name, input }) => {
    if (name !== 'SendMessageBatch') return undefined;
    for (const { MessageBody, MessageGroupId } of input.Entries)
      sent.push({ message: JSON.parse(MessageBody), group: MessageGroupId });
    return {};
  });
  db.put(webhooks.map((webhook) => ({ ...itemKey.webhook(webhook, webhook.id), ...webhook })));
  const fanOut = createEntry('fan-out', runtime, { keeper: () => async () => {} });
  const deliver = createEntry('deliver quick', runtime);
  const publishedAt = new Map(events.map(({ id, at }) => [id, at]));
  const delays = new Map<string, number[]>(webhooks.map(({ id }) => [id, []]));
  const shards = Array.from({ length: SHARDS }, (): { records: DynamoDBRecord[]; isBusy: boolean } => ({
    records: [],
    isBusy: false,
  }));
  const queue = new FairOrder<Waiting>();
  let running = 0;

  for (const event of events) later(event.at - now, () => append(event));
  while (tasks.length > 0) {
    const next = tasks.reduce((first, each) => (each.at < first.at ? each : first)); // the oldest of equal times
    tasks.splice(tasks.indexOf(next), 1);
    now = next.at;
    await next.run();
  }
  return delays;

  function later(ms: number, run: () => Promise<void> | void): void {
    tasks.push({ at: now + ms, run });
  }

  /** Runs a function, and returns the messages that it sends. */
  async function messagesOf(invoke: () => Promise<unknown>): Promise<Waiting[]> {
    sent = [];
    await invoke();
    return sent;
  }

  function append(event: StoredEvent): void {
    const { Item } = (putEvents([event])[0] as { Put: { Item: Record<string, unknown> } }).Put;
    const index = bucketOf(String(Item.pk), SHARDS);
    const shard = shards[index] as (typeof shards)[number];
    shard.records.push(streamRecord(undefined, Item, event.id));
    if (shard.isBusy) return;
    shard.isBusy = true;
    const sincePoll = (now + (index * POLL_MS) / SHARDS) % POLL_MS;
    later(POLL_MS - sincePoll, () => poll(shard));
  }

  async function poll(shard: (typeof shards)[number]): Promise<void> {
    const Records = shard.records.splice(0, BATCH_OF_STREAM);
    shard.isBusy = Records.length > 0;
    if (!shard.isBusy) return;
    const messages = await messagesOf(() => fanOut({ Records } as never, {} as Context));
    later(show(messages), () => poll(shard));
  }

  /** Shows the messages that an invocation sends one after another, and returns its duration. */
  function show(messages: readonly Waiting[]): number {
    for (let i = 0; i < messages.length; i += BATCH_OF_LANE)
      later(INVOCATION_MS + i * SENDING_MS, () => {
        for (const message of messages.slice(i, i + BATCH_OF_LANE)) queue.add(message);
        return receive();
      });
    return INVOCATION_MS + messages.length * SENDING_MS;
  }

  async function receive(): Promise<void> {
    while (running < BATCHES_OF_LANE && queue.size > 0) {
      const batch = Array.from({ length: Math.min(BATCH_OF_LANE, queue.size) }, () => queue.take() as Waiting);
      running++;
      const { length } = batch.filter(({ message }) => isDelivery(message));
      for (const { message } of batch)
        if (isDelivery(message)) begin(message, INVOCATION_MS + (length * DELIVERY_MS) / 2);
      const others = batch.filter(({ message }) => !isDelivery(message));
      const Records = others.map(({ message }, i) => queueRecord(String(i), JSON.stringify(message)));
      const sending =
        others.length > 0 ? show(await messagesOf(() => deliver({ Records } as never, {} as Context))) : 0;
      const delivering = length > 0 ? INVOCATION_MS + length * DELIVERY_MS + RESPONSE_MS : 0;
      later(Math.max(sending, delivering), () => {
        for (const message of batch) queue.end(message);
        running--;
        return receive();
      });
    }
  }

  function begin({ webhookId, eventId }: { webhookId: string; eventId: string }, ms: number): void {
    delays.get(webhookId)?.push(now + ms - (publishedAt.get(eventId) ?? 0));
  }
}
