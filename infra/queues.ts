import { Duration } from 'aws-cdk-lib';
import type { IGrantable } from 'aws-cdk-lib/aws-iam';
import type { Key } from 'aws-cdk-lib/aws-kms';
import { Queue, QueueEncryption } from 'aws-cdk-lib/aws-sqs';
import type { Construct } from 'constructs';
import { pinLogicalId } from './logical-ids.ts';

/**
 * Receives of a message before it goes to the dead-letter queue: an hour's worth. Failures of endpoints never come back; only
 * our own do, and throttled polls count too.
 */
const MAX_RECEIVES = 20;

/**
 * Six times the longest time limit of a consumer (30 s) and the longest batching window (5 s). Lambda asks for this (Lambda
 * Developer Guide, "Using Lambda with Amazon SQS").
 */
const VISIBILITY = Duration.seconds(6 * 30 + 5);

export interface QueueProps {
  encryptionKey: Key | undefined;
  deadLetters?: Queue;
}

/** An encrypted queue that accepts only TLS and keeps its messages for 14 days. Its logical id is pinned. */
export function createQueue(scope: Construct, logicalId: string, { encryptionKey, deadLetters }: QueueProps): Queue {
  const queue = new Queue(scope, logicalId, {
    ...(encryptionKey
      ? { encryption: QueueEncryption.KMS, encryptionMasterKey: encryptionKey }
      : { encryption: QueueEncryption.SQS_MANAGED }),
    enforceSSL: true,
    retentionPeriod: Duration.days(14),
    visibilityTimeout: VISIBILITY,
    ...(deadLetters && { deadLetterQueue: { queue: deadLetters, maxReceiveCount: MAX_RECEIVES } }),
  });
  pinLogicalId(queue, logicalId);
  return queue;
}

/** Sending messages, and nothing else. */
export function grantSend(queue: Queue, grantee: IGrantable): void {
  queue.grant(grantee, 'sqs:SendMessage');
}
