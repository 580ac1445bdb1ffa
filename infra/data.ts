import { RemovalPolicy } from 'aws-cdk-lib';
import { AttributeType, BillingMode, ProjectionType, StreamViewType, Table } from 'aws-cdk-lib/aws-dynamodb';
import type { Construct } from 'constructs';
import { BY_PROJECT } from '../lib/aws/table.ts';
import type { Settings } from './settings.ts';

/** The one table (lib/aws/table.ts says what is in it). Its stream is the outbox of events. */
export function createDataTable(scope: Construct, { dataRetention }: Settings): Table {
  const retain = dataRetention === 'retain';
  const table = new Table(scope, 'Table', {
    partitionKey: { name: 'pk', type: AttributeType.STRING },
    sortKey: { name: 'sk', type: AttributeType.STRING },
    billingMode: BillingMode.PAY_PER_REQUEST,
    timeToLiveAttribute: 'expires',
    stream: StreamViewType.NEW_IMAGE,
    pointInTimeRecoverySpecification: { pointInTimeRecoveryEnabled: true },
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
