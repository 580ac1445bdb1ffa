import { EventType } from '@aws-lambda-powertools/batch';
import type { Context, DynamoDBRecord, DynamoDBStreamEvent } from 'aws-lambda';
import type { Backend } from '../aws/backend.ts';
import { isOutage } from '../aws/domain-errors.ts';
import { countSetAside } from '../aws/metrics.ts';
import { streamItem } from '../aws/stream-items.ts';
import type { StoredEvent } from '../events/event.ts';
import { toStoredEvent } from '../events/store.ts';
import { consume } from './batch-consumers.ts';
import { type FanOutDeps, fanOutBatch } from './fan-out.ts';
import { settingAside } from './set-aside.ts';

/** A batch of the stream, or one that `npm run replay` read from the bucket of failed events. */
export interface FanOutBatch extends DynamoDBStreamEvent {
  isReplay?: boolean;
}

export interface FanOutConsumerDeps extends FanOutDeps {
  /** Stores a record that cannot be handled. */
  keep(record: DynamoDBRecord, error: unknown): Promise<void>;
}

/** Sends new events from the table's stream to the queues, one message for every subscribed webhook. */
export function fanOutConsumer({ keep, ...deps }: FanOutConsumerDeps, { log, reportFailure }: Backend) {
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
      reportFailure,
      // A replayed record that fails again stays in the bucket.
      handle: batch.isReplay ? handle : settingAside(handle, { isOutage, setAside }),
      describe: (record) => ['event.fan_out_failed', { event_id: eventIdOf(record) }],
    })(batch, context);
    log.info('events.fanned_out', sum);
    return response;
  };
}

const eventIdOf = ({ dynamodb }: DynamoDBRecord): string | undefined => dynamodb?.Keys?.sk?.S;

const eventOf = ({ dynamodb }: DynamoDBRecord): StoredEvent => toStoredEvent(streamItem(dynamodb?.NewImage ?? {}));
