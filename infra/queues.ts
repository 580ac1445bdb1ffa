import { Duration } from 'aws-cdk-lib';
import type { EventSourceMappingOptions } from 'aws-cdk-lib/aws-lambda';
import { Queue, QueueEncryption } from 'aws-cdk-lib/aws-sqs';
import type { Construct } from 'constructs';
import type { Variable } from '../lib/deployment.ts';
import type { BundledFunction } from './bundled-function.ts';
import { pinLogicalId } from './logical-ids.ts';

/**
 * Receives before a message moves to the dead-letter queue, which take about an hour. Only internal failures and throttled polls
 * count, because failures of endpoints do not return a message to the queue.
 */
const MAX_RECEIVES = 20;

/**
 * Six times the longest timeout of a consumer (30 s) plus the longest batching window (5 s), as Lambda recommends (Lambda
 * Developer Guide, "Using Lambda with Amazon SQS").
 */
const VISIBILITY = Duration.seconds(6 * 30 + 5);

/** An encrypted queue that accepts only TLS and keeps its messages for 14 days. Its logical id is pinned. */
export function createQueue(scope: Construct, logicalId: string, deadLetters?: Queue): Queue {
  const queue = new Queue(scope, logicalId, {
    encryption: QueueEncryption.SQS_MANAGED,
    enforceSSL: true,
    retentionPeriod: Duration.days(14),
    visibilityTimeout: VISIBILITY,
    ...(deadLetters && { deadLetterQueue: { queue: deadLetters, maxReceiveCount: MAX_RECEIVES } }),
  });
  pinLogicalId(queue, logicalId);
  return queue;
}

/** Grants only the permission to send messages, and sets the URL of the queue in the environment of the function. */
export function grantSend(queue: Queue, fn: BundledFunction, variable: Variable): void {
  fn.addEnvironment(variable, queue.queueUrl);
  queue.grant(fn, 'sqs:SendMessage');
}

/** How many messages a function receives at a time. Lambda requires a batching window for more than ten. */
export type Batches = Pick<EventSourceMappingOptions, 'batchSize' | 'maxBatchingWindow'>;

/**
 * Invokes a function with batches from a queue, and grants only the permissions that this needs. At most `maxConcurrency` batches,
 * 2 to 1,000, run at the same time. Unlike with reserved concurrency, waiting messages stay in the queue without being received. The
 * number can exceed the quota of the account (Lambda Developer Guide, "Configuring scaling behavior for SQS event source mappings").
 */
export function consumeQueue(queue: Queue, fn: BundledFunction, options: Batches & { maxConcurrency: number }): void {
  fn.addEventSourceMapping('Messages', {
    eventSourceArn: queue.queueArn,
    batchSize: 10,
    reportBatchItemFailures: true,
    ...options,
  });
  queue.grant(fn, 'sqs:ReceiveMessage', 'sqs:DeleteMessage', 'sqs:GetQueueAttributes');
}
