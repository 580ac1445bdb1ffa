import { ArnFormat, Aws, RemovalPolicy, Stack } from 'aws-cdk-lib';
import { CfnTable } from 'aws-cdk-lib/aws-dynamodb';
import { PolicyStatement, Role, ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import { Key } from 'aws-cdk-lib/aws-kms';
import { CfnLogGroup } from 'aws-cdk-lib/aws-logs';
import { CfnBucket } from 'aws-cdk-lib/aws-s3';
import { CfnTopic } from 'aws-cdk-lib/aws-sns';
import { CfnQueue } from 'aws-cdk-lib/aws-sqs';
import type { Construct } from 'constructs';
import { pinLogicalId } from './logical-ids.ts';

/**
 * Encrypts every table, queue, bucket, log group and topic below `scope` with a key of the stack, and allows all of its roles to use
 * the key. Call it after all resources exist. Other resources use keys of AWS, such as the variables of functions, which contain no
 * data.
 */
export function encrypt(scope: Construct): void {
  const key = new Key(scope, 'Key', {
    enableKeyRotation: true,
    removalPolicy: RemovalPolicy.RETAIN_ON_UPDATE_OR_DELETE, // a failed first deployment leaves none
  });
  pinLogicalId(key, 'EncryptionKey');
  const { keyArn } = key;
  // CloudWatch Logs uses the key for log groups of this account (CloudWatch Logs User Guide, "Encrypt log data").
  const logGroups = Stack.of(scope).formatArn({
    service: 'logs',
    resource: 'log-group',
    resourceName: '*',
    arnFormat: ArnFormat.COLON_RESOURCE_NAME,
  });
  key.addToResourcePolicy(
    new PolicyStatement({
      principals: [new ServicePrincipal(`logs.${Aws.REGION}.amazonaws.com`)],
      actions: ['kms:Encrypt', 'kms:Decrypt', 'kms:ReEncrypt*', 'kms:GenerateDataKey*', 'kms:Describe*'],
      resources: ['*'],
      conditions: { ArnLike: { 'kms:EncryptionContext:aws:logs:arn': logGroups } },
    }),
  );
  for (const construct of scope.node.findAll()) {
    // API Gateway has its own role, which only writes logs.
    if (construct instanceof Role && construct.node.id !== 'CloudWatchRole')
      key.grant(construct, 'kms:Decrypt', 'kms:Encrypt', 'kms:GenerateDataKey', 'kms:DescribeKey');
    if (construct instanceof CfnTable)
      construct.sseSpecification = { sseEnabled: true, sseType: 'KMS', kmsMasterKeyId: keyArn };
    if (construct instanceof CfnLogGroup) construct.kmsKeyId = keyArn;
    if (construct instanceof CfnQueue) {
      construct.kmsMasterKeyId = keyArn;
      construct.sqsManagedSseEnabled = undefined;
    }
    if (construct instanceof CfnBucket) {
      const serverSideEncryptionByDefault = { sseAlgorithm: 'aws:kms', kmsMasterKeyId: keyArn };
      const rule = { bucketKeyEnabled: true, serverSideEncryptionByDefault };
      construct.bucketEncryption = { serverSideEncryptionConfiguration: [rule] };
    }
    if (construct instanceof CfnTopic) {
      construct.kmsMasterKeyId = keyArn;
      // Without this, an alarm cannot publish to the topic (CloudWatch User Guide, "Using Amazon CloudWatch alarms").
      key.addToResourcePolicy(
        new PolicyStatement({
          principals: [new ServicePrincipal('cloudwatch.amazonaws.com')],
          actions: ['kms:Decrypt', 'kms:GenerateDataKey*'],
          resources: ['*'],
          conditions: { StringEquals: { 'aws:SourceAccount': Aws.ACCOUNT_ID } },
        }),
      );
    }
  }
}
