import { RemovalPolicy } from 'aws-cdk-lib';
import type { Metric } from 'aws-cdk-lib/aws-cloudwatch';
import {
  AttributeType,
  BillingMode,
  ProjectionType,
  StreamViewType,
  Table,
  TableEncryption,
} from 'aws-cdk-lib/aws-dynamodb';
import { type IGrantable, PolicyStatement } from 'aws-cdk-lib/aws-iam';
import type { Key } from 'aws-cdk-lib/aws-kms';
import { Construct } from 'constructs';
import { BY_PROJECT, BY_STATUS } from '../lib/deployment.ts';
import { pinLogicalId } from './logical-ids.ts';
import type { Settings } from './settings.ts';
import { statementsOf, type TableGrant } from './table-grants.ts';

/**
 * Write units that an on-demand table accepts immediately, and three times as many reads, as in a new table. DynamoDB only
 * documents how to raise them. Without a value the table keeps its default.
 */
const warmThroughput = (writes: number) =>
  writes > 0 && { warmThroughput: { writeUnitsPerSecond: writes, readUnitsPerSecond: 3 * writes } };

/** The one table (lib/aws/dynamodb/items.ts says what is in it). Its stream is the outbox of events, and what stats are counted from. */
export class DataTable extends Construct {
  readonly name: string;
  readonly streamArn: string;
  private readonly table: Table;

  constructor(
    scope: Construct,
    id: string,
    { dataRetention, warmWritesPerSecond }: Settings,
    encryptionKey: Key | undefined,
  ) {
    super(scope, id);
    const warm = warmThroughput(Number(warmWritesPerSecond));
    const retain = dataRetention === 'retain';
    this.table = new Table(this, 'Table', {
      partitionKey: { name: 'pk', type: AttributeType.STRING },
      sortKey: { name: 'sk', type: AttributeType.STRING },
      billingMode: BillingMode.PAY_PER_REQUEST,
      ...warm,
      timeToLiveAttribute: 'expires',
      stream: StreamViewType.NEW_AND_OLD_IMAGES,
      pointInTimeRecoverySpecification: { pointInTimeRecoveryEnabled: true },
      ...(encryptionKey && { encryption: TableEncryption.CUSTOMER_MANAGED, encryptionKey }),
      deletionProtection: retain,
      removalPolicy: retain ? RemovalPolicy.RETAIN : RemovalPolicy.DESTROY,
    });
    pinLogicalId(this.table, 'Table');
    this.table.addGlobalSecondaryIndex({
      indexName: BY_PROJECT,
      partitionKey: { name: 'keysOf', type: AttributeType.STRING },
      sortKey: { name: 'pk', type: AttributeType.STRING },
      projectionType: ProjectionType.ALL,
    });
    this.table.addGlobalSecondaryIndex({
      ...warm,
      indexName: BY_STATUS,
      partitionKey: { name: 'byStatus', type: AttributeType.STRING },
      sortKey: { name: 'sk', type: AttributeType.STRING },
      // Only the members that queries filter by, because each change of one writes the entry again. DynamoDB cannot change
      // them in place: a change needs an index with another name.
      projectionType: ProjectionType.INCLUDE,
      nonKeyAttributes: ['eventType', 'test', 'nextAttemptAt', 'endedAt'],
    });
    this.name = this.table.tableName;
    this.streamArn = this.table.tableStreamArn ?? '';
  }

  /** These actions on items of these kinds. CDK's own grants would include every item and index. */
  grant(grantee: IGrantable, granted: TableGrant): void {
    for (const statement of statementsOf(granted, this.table.tableArn))
      grantee.grantPrincipal.addToPrincipalPolicy(statement);
  }

  /** Finding the keys of a project. */
  grantKeysOfProject(grantee: IGrantable): void {
    this.grantIndex(grantee, BY_PROJECT);
  }

  /** Finding the deliveries of a webhook that have not succeeded. */
  grantDeliveriesByStatus(grantee: IGrantable): void {
    this.grantIndex(grantee, BY_STATUS);
  }

  private grantIndex(grantee: IGrantable, name: string): void {
    const resources = [`${this.table.tableArn}/index/${name}`];
    grantee.grantPrincipal.addToPrincipalPolicy(new PolicyStatement({ actions: ['dynamodb:Query'], resources }));
  }

  /**
   * Reads and writes that were throttled. A throttled index also holds up writes of the table, and is counted under its own name
   * (DynamoDB Developer Guide, "DynamoDB metrics and dimensions").
   */
  throttleMetrics(): Metric[] {
    const metrics = ['ReadThrottleEvents', 'WriteThrottleEvents'];
    const indexes = [{}, ...[BY_PROJECT, BY_STATUS].map((name) => ({ GlobalSecondaryIndexName: name }))];
    return indexes.flatMap((index) =>
      metrics.map((name) =>
        this.table.metric(name, { statistic: 'Sum', dimensionsMap: { TableName: this.name, ...index } }),
      ),
    );
  }

  /**
   * Reading the stream. IAM cannot restrict a stream to kinds of items, so the function can read every change, including keys
   * with their token secrets. CDK's own grant includes listing all streams.
   */
  grantStream(grantee: IGrantable): void {
    this.table.grantStream(grantee, 'dynamodb:DescribeStream', 'dynamodb:GetRecords', 'dynamodb:GetShardIterator');
  }
}
