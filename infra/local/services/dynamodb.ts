import {
  CreateTableCommand,
  type CreateTableCommandInput,
  DescribeTableCommand,
  DynamoDBClient,
  type KeySchemaElement,
  ResourceInUseException,
} from '@aws-sdk/client-dynamodb';
import { UserError } from '../../user-error.ts';
import { requireDynamoDbRequest } from '../models/dynamodb/request.ts';
import type { TableSchema } from '../models/dynamodb/schema.ts';
import { validated } from '../models/validated.ts';
import { ACCOUNT, REGION, type Template } from '../template.ts';
import { type DatabaseResponse, databaseRequests } from './database-requests.ts';
import { dynamoDbActions, READS } from './dynamodb-request.ts';
import type { Service, ServiceResponse } from './endpoints.ts';
import type { LocalIam } from './iam.ts';
import type { Signal } from './signal.ts';

const credentials = { accessKeyId: 'local', secretAccessKey: 'local' };

/** A client that validates its requests. With a schema, it also validates keys and expressions. */
export const dynamoDbClient = (endpoint: string, schema?: TableSchema): DynamoDBClient =>
  validated(new DynamoDBClient({ endpoint, region: REGION, credentials }), schema);

/** A table of the local database. */
export interface LocalTable {
  name: string;
  streamArn: string;
  schema: TableSchema;
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
      const table = await describedTable(name, client);
      if (JSON.stringify(table.schema) !== JSON.stringify(schemaOf(properties))) {
        throw new UserError(
          'The keys or indexes of the kept table differ from the template. Delete the folder kept in .local or --directory, or start without --keep.',
        );
      }
      return table;
    });
  return Promise.all(created).finally(() => client.destroy());
}

interface KeyedTable {
  KeySchema?: KeySchemaElement[] | undefined;
  GlobalSecondaryIndexes?: { IndexName?: string | undefined; KeySchema?: KeySchemaElement[] | undefined }[] | undefined;
}

/** Describes a table that exists. */
export async function existingLocalTable(name: string, endpoint: string): Promise<LocalTable> {
  const client = dynamoDbClient(endpoint);
  return describedTable(name, client).finally(() => client.destroy());
}

async function describedTable(name: string, client: DynamoDBClient): Promise<LocalTable> {
  const { Table = {} } = await client.send(new DescribeTableCommand({ TableName: name }));
  return { name, streamArn: Table.LatestStreamArn ?? '', schema: schemaOf(Table) };
}

/** The keys of a table and of its indexes, which are sorted by name. */
function schemaOf({ KeySchema, GlobalSecondaryIndexes = [] }: KeyedTable): TableSchema {
  const names = (schema: KeySchemaElement[] = []) => schema.map(({ AttributeName }) => AttributeName ?? '');
  const indexes = GlobalSecondaryIndexes.map((index) => [index.IndexName ?? '', names(index.KeySchema)] as const);
  return {
    keys: names(KeySchema) as unknown as TableSchema['keys'],
    indexes: Object.fromEntries(indexes.toSorted(([a], [b]) => (a < b ? -1 : 1))) as unknown as TableSchema['indexes'],
  };
}

export interface DynamoDbProxyOptions {
  /** The endpoint of the database. */
  endpoint: string;
  iam: LocalIam;
  schema: TableSchema;
  writes: Signal;
}

/** Forwards requests of functions to the database, and signals `writes` after each possible write. */
export function dynamoDbProxy({ endpoint, iam, schema, writes }: DynamoDbProxyOptions): Service {
  const { send } = databaseRequests(endpoint);
  const tableArn = (name: string) => `arn:aws:dynamodb:${REGION}:${ACCOUNT}:table/${name}`;
  return ({ action, headers, body, principal }) => {
    const input = JSON.parse(body);
    requireDynamoDbRequest(action, input, schema);
    for (const permission of dynamoDbActions(action, input, tableArn)) {
      const context = {
        'dynamodb:LeadingKeys': permission.leadingKeys,
        'dynamodb:Attributes': permission.attributes ?? [],
        ...(permission.select && { 'dynamodb:Select': permission.select }),
      };
      iam.require(principal, permission.action, permission.resource, context, { isEvidence: !permission.isOfAll });
    }
    const response = send(headers, body).then(forwarded);
    return READS.has(action) ? response : response.finally(() => writes.give());
  };
}

function forwarded({ status, headers, body }: DatabaseResponse): ServiceResponse {
  const kept = ['content-type', 'x-amz-crc32', 'x-amzn-requestid'].flatMap((name) => {
    const value = headers[name];
    return typeof value === 'string' ? [[name, value]] : [];
  });
  return { status, headers: Object.fromEntries(kept), body };
}
