import { EventType } from '@aws-lambda-powertools/batch';
import { unmarshall } from '@aws-sdk/util-dynamodb';
import type { Context, DynamoDBRecord, DynamoDBStreamEvent } from 'aws-lambda';
import { consume } from '../lib/aws/consumer.ts';
import { laneQueues } from '../lib/aws/delivery-queue.ts';
import { deliveries } from '../lib/aws/dynamodb/deliveries.ts';
import { toStoredEvent } from '../lib/aws/dynamodb/events.ts';
import { createTable } from '../lib/aws/dynamodb/table.ts';
import { allWebhooks } from '../lib/aws/dynamodb/webhooks.ts';
import { environment } from '../lib/aws/environment.ts';
import { log } from '../lib/aws/log.ts';
import { system } from '../lib/aws/system.ts';
import { fanOut } from '../lib/delivery/fan-out.ts';
import type { Lane } from '../lib/delivery/lanes.ts';
import type { DeliveryMessage } from '../lib/delivery/messages.ts';
import type { StoredEvent } from '../lib/events/events.ts';
import type { Space } from '../lib/space.ts';
import { withStages } from '../lib/stages.ts';
import type { WebhookRecord } from '../lib/webhooks/webhooks.ts';

export interface FanOutDeps {
  webhooks(space: Space): Promise<WebhookRecord[]>;
  enqueue(lane: Lane, messages: readonly DeliveryMessage[]): Promise<void>;
  skip(message: DeliveryMessage, event: StoredEvent): Promise<void>;
  clock(): number;
}

/** New events, as the table's stream shows them: each goes to the queue once for every subscribed webhook. */
export function createHandler({ webhooks, enqueue, skip, clock }: FanOutDeps) {
  return (batch: DynamoDBStreamEvent, context: Context) => {
    const lists = new Map<string, Promise<WebhookRecord[]>>();
    const webhooksOf = (space: Space) => {
      const id = `${space.projectId} ${space.environment}`;
      const list = lists.get(id) ?? webhooks(space);
      lists.set(id, list);
      return list;
    };
    return consume<DynamoDBRecord>(EventType.DynamoDBStreams, {
      async handle(record) {
        const event = eventOf(record);
        const { lanes, skipped } = fanOut(event, event.webhookId ? [] : await webhooksOf(event), clock());
        const sent = [...lanes].map(([lane, messages]) => enqueue(lane, messages));
        await Promise.all([...sent, ...skipped.map((message) => skip(message, event))]);
        const deliveries = [...lanes.values()].reduce((sum, { length }) => sum + length, 0);
        const counts = { deliveries, skipped: skipped.length };
        log.info('event.fanned_out', { event_id: event.id, type: event.type, ...counts });
      },
      describe: (record) => ['event.fan_out_failed', { event_id: eventOf(record).id }],
    })(batch, context);
  };
}

const eventOf = ({ dynamodb }: DynamoDBRecord): StoredEvent =>
  toStoredEvent(unmarshall((dynamodb?.NewImage ?? {}) as Parameters<typeof unmarshall>[0]));

const table = createTable(environment('TABLE_NAME'));
const queues = laneQueues();
const deps: FanOutDeps = {
  webhooks: (space) => allWebhooks(table, space),
  enqueue: (lane, messages) => queues[lane].sendAll(messages),
  skip: (message, event) => deliveries(table).end(message, event, 'skipped', system.clock()),
  clock: system.clock,
};

export const handler = createHandler(withStages(deps));
