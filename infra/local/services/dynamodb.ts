import {
  CreateTableCommand,
  type CreateTableCommandInput,
  DescribeTableCommand,
  DynamoDBClient,
  ResourceInUseException,
} from '@aws-sdk/client-dynamodb';
import { UserError } from '../../user-error.ts';
import { schemaOf, type TableSchema } from '../memory/schema.ts';
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

/** Creates the tables of the template with their indexes and streams, unless they exist. */
export async function createTables(template: Template, endpoint: string): Promise<LocalTable[]> {
  const client = dynamoDbClient(endpoint);
  const created = template
    .ofType<CreateTableCommandInput & { StreamSpecification?: object }>('AWS::DynamoDB::Table')
    .map(async ({ id, properties }) => {
      const { KeySchema, AttributeDefinitions, GlobalSecondaryIndexes, StreamSpecification } = properties;
      const name = template.ref(id);
      const create = new CreateTableCommand({
        TableName: name,
        KeySchema,
        AttributeDefinitions,
        GlobalSecondaryIndexes,
        BillingMode: 'PAY_PER_REQUEST',
        StreamSpecification: { ...StreamSpecification, StreamEnabled: StreamSpecification !== undefined },
      });
      await client.send(create).catch((error: unknown) => {
        if (!(error instanceof ResourceInUseException)) throw error; // it already exists
      });
      return describedTable(name, client, schemaOf(properties));
    });
  return Promise.all(created).finally(() => client.destroy());
}

/** Describes a table that exists. */
export async function existingLocalTable(name: string, endpoint: string): Promise<LocalTable> {
  const client = dynamoDbClient(endpoint);
  return describedTable(name, client).finally(() => client.destroy());
}

async function describedTable(TableName: string, client: DynamoDBClient, wanted?: TableSchema): Promise<LocalTable> {
  const { Table = {} } = await client.send(new DescribeTableCommand({ TableName }));
  if (wanted && JSON.stringify(schemaOf(Table)) !== JSON.stringify(wanted))
    throw new UserError(
      'The keys or indexes of the kept table differ from the template. Delete the folder kept in .local or --directory, or start without --keep.',
    );
  return { name: TableName, streamArn: Table.LatestStreamArn ?? '' };
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
