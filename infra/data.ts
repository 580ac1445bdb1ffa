import { RemovalPolicy } from 'aws-cdk-lib';
import {
  AttributeType,
  BillingMode,
  ProjectionType,
  StreamViewType,
  Table,
  TableEncryption,
} from 'aws-cdk-lib/aws-dynamodb';
import { Grant, type IGrantable } from 'aws-cdk-lib/aws-iam';
import type { Key } from 'aws-cdk-lib/aws-kms';
import type { Construct } from 'constructs';
import { BY_PROJECT } from '../lib/deployment.ts';
import type { Settings } from './settings.ts';

/** The one table (lib/aws/dynamodb/items.ts says what is in it). Its stream is the outbox of events. */
export function createDataTable(scope: Construct, { dataRetention }: Settings, encryptionKey: Key | undefined): Table {
  const retain = dataRetention === 'retain';
  const table = new Table(scope, 'Table', {
    partitionKey: { name: 'pk', type: AttributeType.STRING },
    sortKey: { name: 'sk', type: AttributeType.STRING },
    billingMode: BillingMode.PAY_PER_REQUEST,
    timeToLiveAttribute: 'expires',
    stream: StreamViewType.NEW_IMAGE,
    pointInTimeRecoverySpecification: { pointInTimeRecoveryEnabled: true },
    ...(encryptionKey && { encryption: TableEncryption.CUSTOMER_MANAGED, encryptionKey }),
    deletionProtection: retain,
    removalPolicy: retain ? RemovalPolicy.RETAIN : RemovalPolicy.DESTROY,
  });
  table.addGlobalSecondaryIndex({
    indexName: BY_PROJECT,
    partitionKey: { name: 'keysOf', type: AttributeType.STRING },
    sortKey: { name: 'pk', type: AttributeType.STRING },
    projectionType: ProjectionType.ALL,
  });
  return table;
}

/** These actions on the items of the table, and on no index. */
export function grantTable(table: Table, grantee: IGrantable, actions: `dynamodb:${string}`[]): void {
  Grant.addToPrincipal({ grantee, actions, resourceArns: [table.tableArn] });
}

/** Queries on one index. */
export function grantIndex(table: Table, grantee: IGrantable, index: string): void {
  const resourceArns = [`${table.tableArn}/index/${index}`];
  Grant.addToPrincipal({ grantee, actions: ['dynamodb:Query'], resourceArns });
}

/** What reading and writing encrypted items and messages takes, if the key is the customer's. */
export function grantKey(key: Key | undefined, grantee: IGrantable): void {
  key?.grant(grantee, 'kms:Decrypt', 'kms:Encrypt', 'kms:GenerateDataKey', 'kms:DescribeKey');
}
