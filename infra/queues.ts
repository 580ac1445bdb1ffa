import { Duration } from 'aws-cdk-lib';
import type { IGrantable } from 'aws-cdk-lib/aws-iam';
import { Queue, QueueEncryption } from 'aws-cdk-lib/aws-sqs';
import type { Construct } from 'constructs';
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

/** Grants only the permission to send messages. */
export function grantSend(queue: Queue, grantee: IGrantable): void {
  queue.grant(grantee, 'sqs:SendMessage');
}
