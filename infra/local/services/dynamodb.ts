import http from 'node:http';
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
import { readBody } from './bodies.ts';
import { dynamoDbActions, READS } from './dynamodb-request.ts';
import type { Service, ServiceResponse } from './endpoints.ts';
import type { LocalIam } from './iam.ts';
import type { Signal } from './signal.ts';

const credentials = { accessKeyId: 'local', secretAccessKey: 'local' };

/** A client that validates its requests. With a schema, it also validates keys and expressions. */
export const dynamoDbClient = (endpoint: string, schema?: TableSchema): DynamoDBClient =>
  validated(new DynamoDBClient({ endpoint, region: REGION, credentials }), schema);

/** Creates the tables of the template with their indexes and streams, unless they exist. */
export async function createTables(
  template: Template,
  endpoint: string,
): Promise<{ name: string; streamArn: string }[]> {
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
      const { Table } = await client.send(new DescribeTableCommand({ TableName: name }));
      if (keysOf(Table ?? {}) !== keysOf(properties)) {
        throw new UserError(
          'The keys or indexes of the kept table differ from the template. Delete .local/kept, or start without --keep.',
        );
      }
      return { name, streamArn: Table?.LatestStreamArn ?? '' };
    });
  return Promise.all(created).finally(() => client.destroy());
}

/** Returns the same text for tables with the same keys and indexes. */
function keysOf({ KeySchema, GlobalSecondaryIndexes = [] }: KeyedTable): string {
  const keys = (schema: KeySchemaElement[] = []) =>
    schema.map(({ AttributeName, KeyType }) => [AttributeName, KeyType]);
  const indexes = GlobalSecondaryIndexes.map((index) => [index.IndexName, keys(index.KeySchema)]);
  return JSON.stringify([keys(KeySchema), indexes.sort()]);
}

interface KeyedTable {
  KeySchema?: KeySchemaElement[] | undefined;
  GlobalSecondaryIndexes?: { IndexName?: string | undefined; KeySchema?: KeySchemaElement[] | undefined }[] | undefined;
}

/** Describes a table that exists. */
export async function describedTable(name: string, endpoint: string): Promise<{ name: string; streamArn: string }> {
  const client = dynamoDbClient(endpoint);
  const { Table } = await client.send(new DescribeTableCommand({ TableName: name })).finally(() => client.destroy());
  return { name, streamArn: Table?.LatestStreamArn ?? '' };
}

/** Returns the keys of a table and of its indexes. */
export async function tableSchema(endpoint: string, TableName: string): Promise<TableSchema> {
  const client = dynamoDbClient(endpoint);
  const { Table } = await client.send(new DescribeTableCommand({ TableName })).finally(() => client.destroy());
  const { KeySchema, GlobalSecondaryIndexes = [] } = Table ?? {};
  const names = (schema: KeySchemaElement[] = []) => schema.map(({ AttributeName }) => AttributeName ?? '');
  return {
    keys: names(KeySchema) as unknown as TableSchema['keys'],
    indexes: Object.fromEntries(GlobalSecondaryIndexes.map((index) => [index.IndexName, names(index.KeySchema)])),
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
  const { hostname, port } = new URL(endpoint);
  const agent = new http.Agent({ keepAlive: true });
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
    const answer = new Promise<ServiceResponse>((resolve, reject) => {
      const request = http.request(
        { hostname, port, method: 'POST', agent, headers: { ...headers, host: `${hostname}:${port}` } },
        (response) => {
          const headers = ['content-type', 'x-amz-crc32', 'x-amzn-requestid'].flatMap((name) => {
            const value = response.headers[name];
            return typeof value === 'string' ? [[name, value]] : [];
          });
          // Forwards bytes, because decoding and encoding large responses would be slow.
          readBody(response)
            .then((body) => ({
              status: response.statusCode ?? 500,
              headers: Object.fromEntries(headers),
              body: body ?? '',
            }))
            .then(resolve, reject);
        },
      );
      request.on('error', reject).end(body);
    });
    return READS.has(action) ? answer : answer.finally(() => writes.give());
  };
}
