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
import { isOutage } from '../lib/aws/errors.ts';
import { reportFailure } from '../lib/aws/failures.ts';
import { log } from '../lib/aws/log.ts';
import { countSetAside } from '../lib/aws/metrics.ts';
import { failedEvents } from '../lib/aws/set-aside.ts';
import { system } from '../lib/aws/system.ts';
import { type FanOutDeps, fanOutBatch } from '../lib/delivery/fan-out.ts';
import { settingAside } from '../lib/delivery/set-aside.ts';
import type { StoredEvent } from '../lib/events/events.ts';
import { withStages } from '../lib/stages.ts';

/** A batch of the stream, or one that `npm run replay` read from the bucket of failed events. */
export interface FanOutBatch extends DynamoDBStreamEvent {
  isReplay?: boolean;
}

export interface FanOutHandlerDeps extends FanOutDeps {
  /** Stores a record that cannot be handled. */
  keep(record: DynamoDBRecord, error: unknown): Promise<void>;
}

/** Sends new events from the table's stream to the queues, one message for every subscribed webhook. */
export function createHandler({ keep, ...deps }: FanOutHandlerDeps) {
  return async (batch: FanOutBatch, context: Context) => {
    const fanOut = fanOutBatch(deps);
    const sum = { events: 0, deliveries: 0, skipped: 0, set_aside: 0 };
    const handle = async (record: DynamoDBRecord) => {
      const { deliveries, skipped } = await fanOut(eventOf(record));
      sum.events++;
      sum.deliveries += deliveries;
      sum.skipped += skipped;
    };
    const setAside = async (record: DynamoDBRecord, error: unknown) => {
      await keep(record, error);
      reportFailure('event.set_aside', { event_id: eventIdOf(record) }, error);
      countSetAside();
      sum.set_aside++;
    };
    const response = await consume<DynamoDBRecord>(EventType.DynamoDBStreams, {
      // A replayed record that fails again stays in the bucket.
      handle: batch.isReplay ? handle : settingAside(handle, { isOutage, setAside }),
      describe: (record) => ['event.fan_out_failed', { event_id: eventIdOf(record) }],
    })(batch, context);
    log.info('events.fanned_out', sum);
    return response;
  };
}

const eventIdOf = ({ dynamodb }: DynamoDBRecord): string | undefined => dynamodb?.Keys?.sk?.S;

const eventOf = ({ dynamodb }: DynamoDBRecord): StoredEvent =>
  toStoredEvent(unmarshall((dynamodb?.NewImage ?? {}) as Parameters<typeof unmarshall>[0]));

const table = createTable(environment('TABLE_NAME'));
const queues = laneQueues();
const deps: FanOutHandlerDeps = {
  webhooks: (space) => allWebhooks(table, space),
  enqueue: (lane, messages) => queues[lane].sendAll(messages),
  skip: (message, event) => deliveries(table).end(message, event, 'skipped', system.clock()),
  clock: system.clock,
  keep: failedEvents(environment('FAILED_EVENTS_URL')),
};

export const handler = createHandler(withStages(deps));
