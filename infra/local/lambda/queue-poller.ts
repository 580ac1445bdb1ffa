import { setTimeout as sleep } from 'node:timers/promises';
import type { LocalQueue, QueueMessage } from '../services/sqs.ts';
import { REGION } from '../template.ts';
import { type BatchConsumer, ENABLED_CHECK_MS, invokeBatch, type MappingProperties } from './event-sources.ts';

const GATHERING_CHECK_MS = 20;

export interface PollerOptions {
  queue: LocalQueue;
  fn: BatchConsumer;
  mapping: MappingProperties;
  /** The maximum number of concurrent batches. The mapping can set a lower limit. */
  concurrency: number;
}

/**
 * Polls a standard queue like Lambda, but with all concurrent batches from the start. It passes batches to the function and
 * deletes the successful messages, and the others become visible again. Returns a function that stops the poller.
 */
export function pollQueue({ queue, fn, mapping, concurrency }: PollerOptions): () => void {
  const limit = Math.min(concurrency, mapping.ScalingConfig?.MaximumConcurrency ?? Number.POSITIVE_INFINITY);
  const batchSize = mapping.BatchSize ?? 10;
  const windowMs = ((mapping.MaximumBatchingWindowInSeconds ?? 0) * 1000) / queue.settings.speed;
  let stopped = false;
  let running = 0;
  let batchEnded = () => {};

  async function poll(): Promise<void> {
    while (!stopped) {
      await queue.untilVisible();
      await untilGathered();
      await untilAllowed();
      if (stopped) return;
      if (mapping.Enabled === false) {
        await sleep(ENABLED_CHECK_MS);
        continue;
      }
      const messages = queue.receive(batchSize);
      if (messages.length > 0) void consume(messages);
    }
  }

  // A full batch does not wait (Lambda Developer Guide, "Batching behavior").
  async function untilGathered(): Promise<void> {
    const endsAt = performance.now() + windowMs;
    while (queue.counts().visible < batchSize && performance.now() < endsAt && !stopped) {
      await sleep(Math.max(0, Math.min(GATHERING_CHECK_MS, endsAt - performance.now())));
    }
  }

  async function untilAllowed(): Promise<void> {
    while (running >= limit && !stopped) {
      await new Promise<void>((resolve) => {
        batchEnded = resolve;
      });
    }
  }

  async function consume(messages: QueueMessage[]): Promise<void> {
    running++;
    const ids = messages.map(({ messageId }) => messageId);
    const records = messages.map((message) => queueRecord(message, mapping.EventSourceArn));
    const failed = await invokeBatch(fn, records, ids, mapping);
    for (const { messageId, receiptHandle } of messages) {
      if (failed.has(messageId)) queue.fail(receiptHandle);
      else queue.delete(receiptHandle);
    }
    running--;
    batchEnded();
  }

  void poll();
  return () => {
    stopped = true;
    batchEnded();
  };
}

/** A message as a function receives it (Lambda Developer Guide, "Using Lambda with Amazon SQS"). */
export function queueRecord(message: QueueMessage, eventSourceARN: string) {
  const { messageId, receiptHandle, body, group } = message;
  return {
    messageId,
    receiptHandle,
    body,
    attributes: {
      ApproximateReceiveCount: String(message.receiveCount),
      SentTimestamp: String(message.sentAt),
      ...(group !== undefined && { MessageGroupId: group }),
    },
    messageAttributes: {},
    eventSource: 'aws:sqs',
    eventSourceARN,
    awsRegion: REGION,
  };
}
