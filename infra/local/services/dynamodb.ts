import {
  CreateTableCommand,
  type CreateTableCommandInput,
  DescribeTableCommand,
  DynamoDBClient,
  ResourceInUseException,
} from '@aws-sdk/client-dynamodb';
import { UserError } from '../../user-error.ts';
import { schemaOf } from '../memory/schema.ts';
import { ACCOUNT, REGION, type Template } from '../template.ts';
import { databaseRequests } from './database-requests.ts';
import { dynamoDbActions, READS } from './dynamodb-request.ts';
import type { Service } from './endpoints.ts';
import type { LocalIam } from './iam.ts';
import type { Signal } from './signal.ts';

const credentials = { accessKeyId: 'local', secretAccessKey: 'local' };

export const dynamoDbClient = (endpoint: string): DynamoDBClient =>
  new DynamoDBClient({ endpoint, region: REGION, credentials });

/** A table of the local database. */
export interface LocalTable {
  name: string;
  streamArn: string;
}

type TableProperties = CreateTableCommandInput & { StreamSpecification?: object };

/**
 * Opens the table of the template. Creates it with its indexes and its stream unless it exists. If the template contains no table,
 * it is the one whose stream the mappings read.
 */
export async function openTable(template: Pick<Template, 'ofType' | 'ref'>, endpoint: string): Promise<LocalTable> {
  const client = dynamoDbClient(endpoint);
  const [table] = template.ofType<TableProperties>('AWS::DynamoDB::Table');
  const TableName = table ? template.ref(table.id) : tableOfMappings(template);
  try {
    if (table) await create(client, TableName, table.properties);
    const { Table = {} } = await client.send(new DescribeTableCommand({ TableName }));
    if (table && JSON.stringify(schemaOf(Table)) !== JSON.stringify(schemaOf(table.properties)))
      throw new UserError(
        'The keys or indexes of the kept table differ from the template. Delete the folder kept in .local or --directory, or start without --keep.',
      );
    return { name: TableName, streamArn: Table.LatestStreamArn ?? '' };
  } finally {
    client.destroy();
  }
}

async function create(client: DynamoDBClient, TableName: string, properties: TableProperties): Promise<void> {
  const { KeySchema, AttributeDefinitions, GlobalSecondaryIndexes, StreamSpecification } = properties;
  const command = new CreateTableCommand({
    TableName,
    KeySchema,
    AttributeDefinitions,
    GlobalSecondaryIndexes,
    BillingMode: 'PAY_PER_REQUEST',
    StreamSpecification: { ...StreamSpecification, StreamEnabled: StreamSpecification !== undefined },
  });
  await client.send(command).catch((error: unknown) => {
    if (!(error instanceof ResourceInUseException)) throw error; // it already exists
  });
}

function tableOfMappings(template: Pick<Template, 'ofType'>): string {
  const mappings = template.ofType<{ EventSourceArn: string }>('AWS::Lambda::EventSourceMapping');
  const tables = mappings.map(({ properties }) => /:table\/(.+)\/stream\//.exec(properties.EventSourceArn)?.[1]);
  return tables.find(Boolean) ?? '';
}

export interface DynamoDbProxyOptions {
  /** The endpoint of the database. */
  endpoint: string;
  iam: LocalIam;
  writes: Signal;
}

/** Forwards requests of functions to the database, and signals `writes` after each possible write. */
export function dynamoDbProxy({ endpoint, iam, writes }: DynamoDbProxyOptions): Service {
  const { send } = databaseRequests(endpoint);
  const tableArn = (name: string) => `arn:aws:dynamodb:${REGION}:${ACCOUNT}:table/${name}`;
  return ({ action, input, headers, body, principal }) => {
    for (const permission of dynamoDbActions(action, input, tableArn)) {
      const context = {
        'dynamodb:LeadingKeys': permission.leadingKeys,
        'dynamodb:Attributes': permission.attributes ?? [],
        ...(permission.select && { 'dynamodb:Select': permission.select }),
      };
      iam.require(principal, permission.action, permission.resource, context);
    }
    const response = send(headers, body);
    return READS.has(action) ? response : response.finally(() => writes.give());
  };
}
