import { RemovalPolicy } from 'aws-cdk-lib';
import type { Metric } from 'aws-cdk-lib/aws-cloudwatch';
import * as dynamodb from 'aws-cdk-lib/aws-dynamodb';
import { PolicyStatement } from 'aws-cdk-lib/aws-iam';
import * as lambda from 'aws-cdk-lib/aws-lambda';
import { Construct } from 'constructs';
import { BY_PROJECT, BY_STATUS, BY_TYPE, type ItemKind, TIME_TO_LIVE } from '../lib/deployment.ts';
import type { BundledFunction } from './bundled-function.ts';
import { pinLogicalId } from './logical-ids.ts';
import type { Settings } from './settings.ts';

const ACTIONS = {
  get: 'dynamodb:GetItem',
  'batch get': 'dynamodb:BatchGetItem',
  query: 'dynamodb:Query',
  /** A query that reads nothing but keys. */
  'query keys': 'dynamodb:Query',
  put: 'dynamodb:PutItem',
  update: 'dynamodb:UpdateItem',
  delete: 'dynamodb:DeleteItem',
  check: 'dynamodb:ConditionCheckItem',
} as const;
type TableAction = keyof typeof ACTIONS;

const INDEXES = [BY_PROJECT, BY_STATUS, BY_TYPE] as const;
type Index = (typeof INDEXES)[number];

/** The members of a transaction are authorized as these actions. */
const IN_TRANSACTIONS: readonly TableAction[] = ['put', 'update', 'delete', 'check'];

/** A query of this action must name the attributes that it reads, and only these. */
const OF_KEYS = {
  'ForAllValues:StringEquals': { 'dynamodb:Attributes': ['pk', 'sk'] },
  StringEquals: { 'dynamodb:Select': 'SPECIFIC_ATTRIBUTES' },
};

/** The actions that a function can perform on each kind of item. */
export type TableGrant = Partial<Record<ItemKind, readonly TableAction[]>>;

/** For operations with an Idempotency-Key. They store and replay the response, and release the key after a problem. */
export const IDEMPOTENCY = { IDEMPOTENCY: ['get', 'put', 'update', 'delete'] } as const satisfies TableGrant;

/** Every function checks the layout of the table before it writes (lib/aws/layout.ts). */
const CHECK_LAYOUT = 'get' satisfies TableAction;

/** What of the stream a function receives, and how. The streams keep their records for 24 hours. */
interface FeedProps extends Omit<lambda.EventSourceMappingOptions, 'eventSourceArn' | 'filters'> {
  kind: ItemKind;
  changes: readonly ('INSERT' | 'MODIFY')[];
}

/**
 * The table (see lib/aws/items.ts for its items). Its stream is the outbox of events and the source of the stats. With
 * the setting `table`, the stack uses an existing table, such as a restored one, and never changes or deletes it.
 */
export class DataTable extends Construct {
  readonly name: string;
  readonly arn: string;
  private readonly table: dynamodb.ITable;

  constructor(scope: Construct, id: string, { table, dataRetention }: Pick<Settings, 'table' | 'dataRetention'>) {
    super(scope, id);
    const existing = table && { tableName: table.name, tableStreamArn: table.streamArn };
    this.table = existing
      ? dynamodb.Table.fromTableAttributes(this, 'Existing', existing)
      : this.createTable(dataRetention === 'retain');
    this.name = this.table.tableName;
    this.arn = this.table.tableArn;
  }

  /**
   * Sets the name of the table in the environment of a function, and grants the actions on items of the given kinds. The grants of
   * the CDK include every item and index.
   */
  grant(fn: BundledFunction, granted: TableGrant): void {
    fn.addEnvironment('TABLE_NAME', this.name);
    for (const statement of statementsOf(granted, this.arn)) fn.addToRolePolicy(statement);
  }

  /** Allows a function to query one of the indexes. */
  grantIndex(fn: BundledFunction, index: Index): void {
    const resources = [`${this.arn}/index/${index}`];
    fn.addToRolePolicy(new PolicyStatement({ actions: ['dynamodb:Query'], resources }));
  }

  private createTable(retain: boolean): dynamodb.Table {
    const table = new dynamodb.Table(this, 'Table', {
      partitionKey: { name: 'pk', type: dynamodb.AttributeType.STRING },
      sortKey: { name: 'sk', type: dynamodb.AttributeType.STRING },
      billingMode: dynamodb.BillingMode.PAY_PER_REQUEST,
      timeToLiveAttribute: TIME_TO_LIVE,
      stream: dynamodb.StreamViewType.NEW_AND_OLD_IMAGES,
      pointInTimeRecoverySpecification: { pointInTimeRecoveryEnabled: true },
      deletionProtection: retain,
      removalPolicy: retain ? RemovalPolicy.RETAIN : RemovalPolicy.DESTROY,
    });
    pinLogicalId(table, 'Table');
    table.addGlobalSecondaryIndex({
      indexName: BY_PROJECT,
      partitionKey: { name: 'keysOf', type: dynamodb.AttributeType.STRING },
      sortKey: { name: 'pk', type: dynamodb.AttributeType.STRING },
      projectionType: dynamodb.ProjectionType.ALL,
    });
    table.addGlobalSecondaryIndex({
      indexName: BY_STATUS,
      partitionKey: { name: 'byStatus', type: dynamodb.AttributeType.STRING },
      sortKey: { name: 'sk', type: dynamodb.AttributeType.STRING },
      // Only the members that queries filter by, because each change to one of them writes the index entry again. DynamoDB cannot
      // change the projection of an index, so a change requires an index with a new name.
      projectionType: dynamodb.ProjectionType.INCLUDE,
      nonKeyAttributes: ['eventType', 'test', 'nextAttemptAt', 'endedAt'],
    });
    table.addGlobalSecondaryIndex({
      indexName: BY_TYPE,
      partitionKey: { name: 'byType', type: dynamodb.AttributeType.STRING },
      sortKey: { name: 'sk', type: dynamodb.AttributeType.STRING },
      projectionType: dynamodb.ProjectionType.INCLUDE,
      nonKeyAttributes: ['followers', 'documentKey'],
    });
    return table;
  }

  /**
   * Throttled reads and writes. A throttled index also throttles writes to the table, and has metrics under its own name
   * (DynamoDB Developer Guide, "DynamoDB metrics and dimensions").
   */
  throttleMetrics(): Metric[] {
    const metrics = ['ReadThrottleEvents', 'WriteThrottleEvents'];
    const indexes = [{}, ...INDEXES.map((name) => ({ GlobalSecondaryIndexName: name }))];
    return indexes.flatMap((index) =>
      metrics.map((name) =>
        this.table.metric(name, { statistic: 'Sum', dimensionsMap: { TableName: this.name, ...index } }),
      ),
    );
  }

  /**
   * Invokes a function with the changes of items of one kind, oldest first, until it succeeds. Two functions can read the stream: a
   * third one would be throttled (DynamoDB Developer Guide, "Change data capture for DynamoDB Streams"). IAM cannot restrict a stream to kinds
   * of items, so the function can read every change, including keys with their token secrets. Lambda also requires the permission to
   * list the names of all streams (DynamoDB Developer Guide, "IAM policy to allow an AWS Lambda function to access DynamoDB stream
   * records").
   */
  feed(fn: BundledFunction, { kind, changes, ...options }: FeedProps): lambda.EventSourceMapping {
    this.table.grantStream(fn, 'dynamodb:DescribeStream', 'dynamodb:GetRecords', 'dynamodb:GetShardIterator');
    fn.addToRolePolicy(new PolicyStatement({ actions: ['dynamodb:ListStreams'], resources: ['*'] }));
    return fn.addEventSourceMapping('Changes', {
      eventSourceArn: this.table.tableStreamArn ?? '',
      startingPosition: lambda.StartingPosition.TRIM_HORIZON,
      retryAttempts: -1,
      metricsConfig: { metrics: [lambda.MetricType.EVENT_COUNT] },
      filters: changes.map((change) =>
        lambda.FilterCriteria.filter({
          eventName: lambda.FilterRule.isEqual(change),
          dynamodb: { Keys: { pk: { S: lambda.FilterRule.beginsWith(`${kind}#`) } } },
        }),
      ),
      ...options,
    });
  }
}

/**
 * The statements of a grant, on the table and none of its indexes. The kind of an item is the prefix of its partition key
 * (DynamoDB Developer Guide, "Using IAM policy conditions for fine-grained access control").
 *
 * A transaction is authorized by its member actions ("Using IAM with DynamoDB transactions"). AWS does not document whether the
 * leading keys are those of the member or of the whole transaction, so the statements allow both: one key must be of a granted
 * kind, and the others can be of kinds that the function writes. For a single item, only the granted kinds remain.
 */
function statementsOf(granted: TableGrant, tableArn: string): PolicyStatement[] {
  const grant: TableGrant = { ...granted, VERSION: [CHECK_LAYOUT, ...(granted.VERSION ?? [])] };
  const kindsOf = (isGranted: (actions: readonly TableAction[]) => boolean) =>
    Object.entries(grant).flatMap(([kind, actions]) => (isGranted(actions) ? `${kind}#*` : []));
  const written = kindsOf((actions) => actions.some((action) => IN_TRANSACTIONS.includes(action)));
  const only = (kinds: readonly string[]) => ({ 'ForAllValues:StringLike': { 'dynamodb:LeadingKeys': kinds } });
  const oneOf = (kinds: readonly string[]) => ({ 'ForAnyValue:StringLike': { 'dynamodb:LeadingKeys': kinds } });
  return (Object.keys(ACTIONS) as TableAction[]).flatMap((action) => {
    const kinds = kindsOf((actions) => actions.includes(action));
    if (kinds.length === 0) return [];
    const conditions = {
      ...(IN_TRANSACTIONS.includes(action) ? { ...oneOf(kinds), ...only(written) } : only(kinds)),
      ...(action === 'query keys' && OF_KEYS),
    };
    return new PolicyStatement({ actions: [ACTIONS[action]], resources: [tableArn], conditions });
  });
}
