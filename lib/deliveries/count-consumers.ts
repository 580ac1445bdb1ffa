import type { DynamoDBRecord, DynamoDBStreamEvent } from 'aws-lambda';
import { allDone } from '../all-done.ts';
import type { Backend } from '../aws/backend.ts';
import type { ReportFailure } from '../aws/log.ts';
import { streamItem } from '../aws/stream-items.ts';
import { toDelivery } from './log-store.ts';
import { type DeliveryChange, type Tally, tally } from './stats.ts';

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
