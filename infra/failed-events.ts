import { Duration, RemovalPolicy } from 'aws-cdk-lib';
import { PolicyStatement } from 'aws-cdk-lib/aws-iam';
import type { IEventSourceDlq } from 'aws-cdk-lib/aws-lambda';
import { BlockPublicAccess, Bucket, BucketEncryption } from 'aws-cdk-lib/aws-s3';
import { Construct } from 'constructs';
import { SET_ASIDE_PREFIX } from '../lib/deployment.ts';
import { EVENT_RETENTION_MS } from '../lib/events/event.ts';
import type { BundledFunction } from './bundled-function.ts';
import { pinLogicalId } from './logical-ids.ts';

/** The key prefix of Lambda (Lambda Developer Guide, "Retaining discarded records for a DynamoDB event source"). */
const DISCARDED = 'aws/lambda/';

/** How long a deleted object remains as a version. */
const RESTORABLE = Duration.days(7);

/**
 * A bucket for events that the fan-out could not handle: batches that Lambda discards after 12 hours of retries, and single
 * records that the function sets aside. `infra/commands/replay.ts` invokes the function with both. A queue would store only
 * positions in the stream, which keeps its records for one day. The bucket is retained when the stack is deleted, because it
 * contains the only list of these events.
 */
export class FailedEvents extends Construct {
  readonly bucket: Bucket;

  constructor(scope: Construct, id: string) {
    super(scope, id);
    this.bucket = new Bucket(this, 'Bucket', {
      encryption: BucketEncryption.S3_MANAGED,
      enforceSSL: true,
      blockPublicAccess: BlockPublicAccess.BLOCK_ALL,
      // An object that was deleted or overwritten can be restored for a week.
      versioned: true,
      lifecycleRules: [
        { expiration: Duration.millis(EVENT_RETENTION_MS), noncurrentVersionExpiration: RESTORABLE },
        { expiredObjectDeleteMarker: true },
      ],
      removalPolicy: RemovalPolicy.RETAIN_ON_UPDATE_OR_DELETE, // a failed first deployment leaves none
    });
    pinLogicalId(this.bucket, 'FailedEvents');
  }

  /**
   * Allows a function to set single records aside, and returns the destination for batches that Lambda discards. Lambda writes
   * there with the role of the function.
   */
  destinationOf(fn: BundledFunction): IEventSourceDlq {
    const { bucketArn, bucketRegionalDomainName } = this.bucket;
    fn.addEnvironment('FAILED_EVENTS_URL', `https://${bucketRegionalDomainName}`);
    const objects = [SET_ASIDE_PREFIX, DISCARDED].map((prefix) => this.bucket.arnForObjects(`${prefix}*`));
    fn.addToRolePolicy(new PolicyStatement({ actions: ['s3:PutObject'], resources: objects }));
    fn.addToRolePolicy(new PolicyStatement({ actions: ['s3:ListBucket'], resources: [bucketArn] }));
    return { bind: () => ({ destination: bucketArn }) };
  }
}
