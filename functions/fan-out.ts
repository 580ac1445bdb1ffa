import { BatchProcessor, EventType, processPartialResponse } from '@aws-lambda-powertools/batch';
import { unmarshall } from '@aws-sdk/util-dynamodb';
import type { Context, DynamoDBRecord, DynamoDBStreamEvent } from 'aws-lambda';
import { deliveries } from '../lib/aws/deliveries.ts';
import { deliveryQueue } from '../lib/aws/delivery-queue.ts';
import { environment } from '../lib/aws/environment.ts';
import { toStoredEvent } from '../lib/aws/events.ts';
import { log } from '../lib/aws/log.ts';
import { sources } from '../lib/aws/sources.ts';
import { createTable } from '../lib/aws/table.ts';
import { allWebhooks } from '../lib/aws/webhooks.ts';
import type { DeliveryMessage } from '../lib/delivery.ts';
import type { StoredEvent } from '../lib/events.ts';
import { fanOut } from '../lib/fan-out.ts';
import type { Space } from '../lib/space.ts';
import type { WebhookRecord } from '../lib/webhooks.ts';

export interface FanOutDeps {
  webhooks(space: Space): Promise<WebhookRecord[]>;
  enqueue(messages: readonly DeliveryMessage[]): Promise<void>;
  skip(message: DeliveryMessage, event: StoredEvent): Promise<void>;
}

/** New events, as the table's stream shows them: each goes to the queue once for every subscribed webhook. */
export function createHandler({ webhooks, enqueue, skip }: FanOutDeps) {
  const processor = new BatchProcessor(EventType.DynamoDBStreams);
  return (batch: DynamoDBStreamEvent, context: Context) => {
    const lists = new Map<string, Promise<WebhookRecord[]>>();
    const webhooksOf = (space: Space) => {
      const id = `${space.projectId} ${space.environment}`;
      const list = lists.get(id) ?? webhooks(space);
      lists.set(id, list);
      return list;
    };
    const fanOutRecord = async ({ dynamodb }: DynamoDBRecord) => {
      const event = toStoredEvent(unmarshall((dynamodb?.NewImage ?? {}) as Parameters<typeof unmarshall>[0]));
      const { messages, skipped } = fanOut(event, event.webhookId ? [] : await webhooksOf(event));
      await Promise.all([enqueue(messages), ...skipped.map((message) => skip(message, event))]);
      log.info('event.fanned_out', {
        event_id: event.id,
        type: event.type,
        deliveries: messages.length,
        skipped: skipped.length,
      });
    };
    return processPartialResponse(batch, fanOutRecord, processor, { context, throwOnFullBatchFailure: false });
  };
}

const table = createTable(environment('TABLE_NAME'));
const deliveriesQueue = deliveryQueue(environment('DELIVERIES_QUEUE_URL'));

export const handler = createHandler({
  webhooks: (space) => allWebhooks(table, space),
  enqueue: deliveriesQueue.sendAll,
  skip: (message, event) => deliveries(table).end(message, event, 'skipped', sources.clock()),
});
