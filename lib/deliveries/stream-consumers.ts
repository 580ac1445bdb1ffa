import { EventType } from '@aws-lambda-powertools/batch';
import type { Context, DynamoDBRecord, DynamoDBStreamEvent } from 'aws-lambda';
import { allDone } from '../all-done.ts';
import type { Backend } from '../aws/backend.ts';
import { consume } from '../aws/batches.ts';
import { isOutage } from '../aws/domain-errors.ts';
import { streamItem } from '../aws/items.ts';
import { countSetAside, type ReportFailure } from '../aws/log.ts';
import type { StoredEvent } from '../events/event.ts';
import { toStoredEvent } from '../events/store.ts';
import { type FanOutDeps, fanOutBatch } from './fan-out.ts';
import { toDelivery } from './log-store.ts';
import { type DeliveryChange, type Tally, tally } from './stats.ts';

/** A batch of the stream, or one that `npm run ops -- replay` read from the bucket of failed events. */
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

export interface SetAsideDeps<Item> {
  /** Whether an error can end without a change to the record. */
  isOutage(error: unknown): boolean;
  /** Stores a record where an operator can replay it, and reports the error. */
  setAside(record: Item, error: unknown): Promise<void>;
}

/**
 * Handles the records of a stream so that a record that always fails does not block later ones. Lambda reads a shard in order and
 * retries a failed record until it succeeds or expires. During an outage, every record fails, so retries are correct. A record
 * that fails for any other reason is set aside. If that fails too, the record is retried.
 */
export function settingAside<Item>(
  handle: (record: Item) => Promise<void>,
  { isOutage, setAside }: SetAsideDeps<Item>,
): (record: Item) => Promise<void> {
  return async (record) => {
    try {
      await handle(record);
    } catch (error) {
      if (isOutage(error)) throw error;
      await setAside(record, error);
    }
  };
}

/** With a tumbling window, Lambda passes the shard of a batch (Lambda Developer Guide, `TimeWindowEvent`). */
export interface WindowedStreamEvent extends DynamoDBStreamEvent {
  shardId: string;
}

export interface CountDeps {
  /** Adds changes that the stats do not include yet. */
  add(tally: Tally, shard: string): Promise<void>;
}

/**
 * Counts what happened to deliveries. Lambda repeats a failed batch as a whole, and changes that are already counted are not added
 * twice. A change that cannot be read is reported and left out, because it would stop its shard.
 */
export function countConsumer({ add }: CountDeps, { log, reportFailure }: Backend) {
  return async ({ Records, shardId }: WindowedStreamEvent) => {
    const tallies = tallyOf(Records, reportFailure);
    try {
      await allDone(tallies.map((each) => add(each, shardId)));
    } catch (error) {
      reportFailure('stats.adding_failed', { changes: Records.length }, error);
      throw error;
    }
    log.info('stats.added', { changes: Records.length, tallies: tallies.length });
    return { state: {} }; // without it, Lambda treats the invocation as failed
  };
}

function tallyOf(records: readonly DynamoDBRecord[], reportFailure: ReportFailure): Tally[] {
  try {
    return tally(records.map(changeOf));
  } catch {
    return tally(records.filter((record) => isReadable(record, reportFailure)).map(changeOf));
  }
}

function isReadable(record: DynamoDBRecord, reportFailure: ReportFailure): boolean {
  try {
    tally([changeOf(record)]);
    return true;
  } catch (error) {
    reportFailure('stats.change_unreadable', { keys: record.dynamodb?.Keys }, error);
    return false;
  }
}

function changeOf({ dynamodb = {} }: DynamoDBRecord): DeliveryChange {
  const { OldImage, NewImage, SequenceNumber = '' } = dynamodb;
  const recordOf = (image: typeof NewImage) => image && toDelivery(streamItem(image));
  return {
    before: recordOf(OldImage),
    after: recordOf(NewImage ?? {}) as DeliveryChange['after'],
    sequence: SequenceNumber,
  };
}
