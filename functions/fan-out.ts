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
import { type FanOutDeps, fanOutBatch } from '../lib/delivery/fan-out.ts';
import type { StoredEvent } from '../lib/events/events.ts';
import { withStages } from '../lib/stages.ts';

/** New events, as the table's stream shows them: each goes to the queue once for every subscribed webhook. */
export function createHandler(deps: FanOutDeps) {
  return (batch: DynamoDBStreamEvent, context: Context) => {
    const fanOut = fanOutBatch(deps);
    return consume<DynamoDBRecord>(EventType.DynamoDBStreams, {
      async handle(record) {
        const event = eventOf(record);
        const counts = await fanOut(event);
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
