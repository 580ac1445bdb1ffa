import { EventType } from '@aws-lambda-powertools/batch';
import type { Context, DynamoDBRecord, DynamoDBStreamEvent } from 'aws-lambda';
import type { Backend } from '../aws/backend.ts';
import { consume } from '../aws/batches.ts';
import { isOutage } from '../aws/domain-errors.ts';
import type { failedEvents } from '../aws/failed-events.ts';
import { streamItem } from '../aws/items.ts';
import { countSetAside } from '../aws/metrics.ts';
import { allDone } from '../concurrency.ts';
import { isTest, type StoredEvent } from '../events/event.ts';
import { toStoredEvent } from '../events/store.ts';
import type { Space } from '../space.ts';
import { allWebhooks } from '../webhooks/store.ts';
import type { WebhookRecord } from '../webhooks/webhook.ts';
import { backlogTally } from './backlog-tally.ts';
import { deliveryCounter } from './budget-store.ts';
import { fanOut } from './fan-out.ts';
import { laneQueues } from './lane-queues.ts';
import { toDelivery } from './log-store.ts';
import { recoveryTally } from './recovery-tally.ts';
import { type DeliveryChange, tally } from './stats.ts';
import { stats } from './stats-store.ts';
import { deliveries } from './store.ts';

/** A batch of the stream, or one that `npm run ops -- replay` read from the bucket of failed events. */
type FanOutBatch = DynamoDBStreamEvent & { isReplay?: boolean };

/**
 * Sends new events from the table's stream to the queues, one message for every subscribed webhook. The webhooks of a space are
 * read once for a batch.
 *
 * Lambda reads a shard in order and retries a failed record until it succeeds or expires. During an outage, every record fails, so
 * retries are correct. `keep` stores a record that fails for any other reason, so that it does not block later ones. If that fails
 * too, the record is retried.
 */
export function fanOutConsumer(backend: Backend, keep: ReturnType<typeof failedEvents>) {
  const { table, clock, log, reportFailure } = backend;
  const { endRun } = deliveries(table);
  const sendTo = laneQueues(backend);
  const counter = deliveryCounter(backend);

  return async (batch: FanOutBatch, context: Context) => {
    const sum = { events: 0, deliveries: 0, skipped: 0, set_aside: 0 };
    const lists = new Map<string, Promise<WebhookRecord[]>>();
    const response = await consume<DynamoDBRecord>(EventType.DynamoDBStreams, {
      reportFailure,
      // A replayed record that fails again stays in the bucket.
      handle: batch.isReplay ? send : sendOrKeep,
      describe: (record) => ['event.fan_out_failed', { event_id: eventIdOf(record) }],
    })(batch, context);
    await counter.save();
    log.info('events.fanned_out', sum);
    return response;

    async function sendOrKeep(record: DynamoDBRecord): Promise<void> {
      try {
        await send(record);
      } catch (error) {
        if (isOutage(error)) throw error;
        await keep(record, error);
        reportFailure('event.set_aside', { event_id: eventIdOf(record) }, error);
        countSetAside();
        sum.set_aside++;
      }
    }

    async function send(record: DynamoDBRecord): Promise<void> {
      const event = eventOf(record);
      const now = clock();
      const { lanes, skipped, counts } = fanOut(event, isTest(event) ? [] : await webhooksOf(event), now);
      const sent = [...lanes].map(([lane, messages]) => sendTo(lane, messages));
      const recorded = skipped.map(({ message, reason }) => endRun(message, event, { status: 'skipped', reason }, now));
      await allDone([...sent, ...recorded]);
      if (!batch.isReplay) counter.add(event.projectId, counts.deliveries + counts.skipped);
      sum.events++;
      sum.deliveries += counts.deliveries;
      sum.skipped += counts.skipped;
    }

    function webhooksOf(space: Space): Promise<WebhookRecord[]> {
      const id = `${space.projectId} ${space.environment}`;
      const list = lists.get(id) ?? allWebhooks(table, space);
      lists.set(id, list);
      return list;
    }
  };
}

const eventIdOf = ({ dynamodb }: DynamoDBRecord): string | undefined => dynamodb?.Keys?.sk?.S;

const eventOf = ({ dynamodb }: DynamoDBRecord): StoredEvent => toStoredEvent(streamItem(dynamodb?.NewImage ?? {}));

/** With a tumbling window, Lambda passes the shard of a batch (Lambda Developer Guide, `TimeWindowEvent`). */
type WindowedStreamEvent = DynamoDBStreamEvent & { shardId?: string };

/**
 * Counts what happened to deliveries and to the runs of recoveries, and what endpoints have not received. Lambda repeats a failed
 * batch as a whole, and changes that are already counted are not added twice. A change that cannot be read is reported and left
 * out, because it would stop its shard.
 */
export function countConsumer({ table, log, reportFailure }: Backend) {
  const { add, addToRecovery, addToBacklog } = stats(table);

  return async ({ Records, shardId }: WindowedStreamEvent) => {
    const changes = Records.flatMap(readable);
    const tallies = tally(changes);
    const recovered = recoveryTally(changes);
    const missed = backlogTally(changes);
    try {
      if (!shardId) throw new Error('The batch names no shard, which counts its changes once. Set a tumbling window.');
      await allDone([
        ...tallies.map((each) => add(each, shardId)),
        ...recovered.map((each) => addToRecovery(each, shardId)),
        ...missed.map((each) => addToBacklog(each, shardId)),
      ]);
    } catch (error) {
      reportFailure('stats.adding_failed', { changes: Records.length }, error);
      throw error;
    }
    log.info('stats.added', { changes: Records.length, tallies: tallies.length });
    return { state: {} }; // without it, Lambda treats the invocation as failed
  };

  function readable(record: DynamoDBRecord): DeliveryChange[] {
    try {
      const change = changeOf(record);
      tally([change]);
      return [change];
    } catch (error) {
      reportFailure('stats.change_unreadable', { keys: record.dynamodb?.Keys }, error);
      return [];
    }
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
