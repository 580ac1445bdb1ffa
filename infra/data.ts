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
import { Construct } from 'constructs';
import { BY_PROJECT } from '../lib/deployment.ts';
import type { Settings } from './settings.ts';

const ACTIONS = {
  get: 'dynamodb:GetItem',
  'batch get': 'dynamodb:BatchGetItem',
  query: 'dynamodb:Query',
  put: 'dynamodb:PutItem',
  update: 'dynamodb:UpdateItem',
  delete: 'dynamodb:DeleteItem',
  check: 'dynamodb:ConditionCheckItem',
} as const;

/** What can be done with the items of the table. */
export type TableAction = keyof typeof ACTIONS;

/** The one table (lib/aws/dynamodb/items.ts says what is in it). Its stream is the outbox of events. */
export class DataTable extends Construct {
  readonly name: string;
  readonly streamArn: string;
  private readonly table: Table;

  constructor(scope: Construct, id: string, { dataRetention }: Settings, encryptionKey: Key | undefined) {
    super(scope, id);
    const retain = dataRetention === 'retain';
    this.table = new Table(this, 'Table', {
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
    this.table.addGlobalSecondaryIndex({
      indexName: BY_PROJECT,
      partitionKey: { name: 'keysOf', type: AttributeType.STRING },
      sortKey: { name: 'pk', type: AttributeType.STRING },
      projectionType: ProjectionType.ALL,
    });
    this.name = this.table.tableName;
    this.streamArn = this.table.tableStreamArn ?? '';
  }

  /** These actions on the items, and on no index. CDK's own grants would include every index. */
  grant(grantee: IGrantable, ...actions: TableAction[]): void {
    Grant.addToPrincipal({
      grantee,
      actions: actions.map((action) => ACTIONS[action]),
      resourceArns: [this.table.tableArn],
    });
  }

  /** Finding the keys of a project. */
  grantKeysOfProject(grantee: IGrantable): void {
    const resourceArns = [`${this.table.tableArn}/index/${BY_PROJECT}`];
    Grant.addToPrincipal({ grantee, actions: [ACTIONS.query], resourceArns });
  }

  /** Being fed from the stream. CDK's own grant includes listing all streams. */
  grantStream(grantee: IGrantable): void {
    this.table.grantStream(grantee, 'dynamodb:DescribeStream', 'dynamodb:GetRecords', 'dynamodb:GetShardIterator');
  }
}
