import {
  CreateTableCommand,
  type CreateTableCommandInput,
  DescribeTableCommand,
  DynamoDBClient,
  GetItemCommand,
  ResourceInUseException,
} from '@aws-sdk/client-dynamodb';
import { marshall } from '@aws-sdk/util-dynamodb';
import { LAYOUT, LAYOUT_KEY } from '../../../lib/deployment.ts';
import { UserError } from '../../user-error.ts';
import { schemaOf } from '../memory/schema.ts';
import { REGION, type Template } from '../template.ts';

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

/** Throws if another release wrote the kept table. */
export async function requireLayout(endpoint: string, TableName: string, directory: string): Promise<void> {
  const client = dynamoDbClient(endpoint);
  const { Item } = await client.send(new GetItemCommand({ TableName, Key: marshall(LAYOUT_KEY) }));
  client.destroy();
  if (Item?.layout?.N !== String(LAYOUT))
    throw new UserError(`The kept table has a different layout. Delete ${directory}, or start without --keep.`);
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
