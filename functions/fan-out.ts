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
  return async (batch: DynamoDBStreamEvent, context: Context) => {
    const fanOut = fanOutBatch(deps);
    const sum = { events: 0, deliveries: 0, skipped: 0 };
    const response = await consume<DynamoDBRecord>(EventType.DynamoDBStreams, {
      async handle(record) {
        const { deliveries, skipped } = await fanOut(eventOf(record));
        sum.events++;
        sum.deliveries += deliveries;
        sum.skipped += skipped;
      },
      describe: (record) => ['event.fan_out_failed', { event_id: eventOf(record).id }],
    })(batch, context);
    log.info('events.fanned_out', sum);
    return response;
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
