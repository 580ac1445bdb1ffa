import { Duration, RemovalPolicy, Stack, Validations } from 'aws-cdk-lib';
import { Grant, type Role } from 'aws-cdk-lib/aws-iam';
import type { Key } from 'aws-cdk-lib/aws-kms';
import type { IEventSourceDlq } from 'aws-cdk-lib/aws-lambda';
import { BlockPublicAccess, Bucket, BucketEncryption, type CfnBucket } from 'aws-cdk-lib/aws-s3';
import { Construct } from 'constructs';
import { EVENT_RETENTION_MS } from '../lib/events/events.ts';
import type { BundledFunction } from './bundled-function.ts';
import { pinLogicalId } from './logical-ids.ts';

/** Lambda names its records so (Lambda Developer Guide, "Retaining discarded records for a DynamoDB event source"). */
const WRITTEN = 'aws/lambda/*';

/**
 * A bucket for the events that the fan-out gave up: as files that `infra/replay.ts` hands to it again. A queue would get where
 * they were in the stream, which forgets them after a day. It outlives the stack: nothing else knows of these deliveries.
 */
export class FailedEvents extends Construct {
  readonly bucket: Bucket;

  constructor(scope: Construct, id: string, encryptionKey: Key | undefined) {
    super(scope, id);
    this.bucket = new Bucket(this, 'Bucket', {
      ...(encryptionKey
        ? { encryption: BucketEncryption.KMS, encryptionKey, bucketKeyEnabled: true }
        : { encryption: BucketEncryption.S3_MANAGED }),
      enforceSSL: true,
      blockPublicAccess: BlockPublicAccess.BLOCK_ALL,
      lifecycleRules: [{ expiration: Duration.millis(EVENT_RETENTION_MS) }],
      removalPolicy: RemovalPolicy.RETAIN,
    });
    pinLogicalId(this.bucket, 'FailedEvents');
    Validations.of(this.bucket).acknowledge({
      id: 'AwsSolutions-S1',
      reason:
        'One function writes here, when all else has failed; a log of that would be a second bucket to look after',
    });
  }

  /** Where the mapping of a stream of this function leaves what it gives up. */
  destinationOf(fn: BundledFunction): IEventSourceDlq {
    const { bucketArn } = this.bucket;
    Grant.addToPrincipal({ grantee: fn, actions: ['s3:ListBucket'], resourceArns: [bucketArn] });
    Grant.addToPrincipal({ grantee: fn, actions: ['s3:PutObject'], resourceArns: [`${bucketArn}/${WRITTEN}`] });
    const logicalId = Stack.of(this).getLogicalId(this.bucket.node.defaultChild as CfnBucket);
    Validations.of(fn.role as Role).acknowledge({
      id: `AwsSolutions-IAM5[Resource::<${logicalId}.Arn>/${WRITTEN}]`,
      reason: 'Lambda names each file by the mapping, the shard and the time',
    });
    return { bind: () => ({ destination: bucketArn }) };
  }
}
