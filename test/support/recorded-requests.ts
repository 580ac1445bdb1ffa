import { CreateTableCommand, ResourceInUseException } from '@aws-sdk/client-dynamodb';
import * as documentClient from '@aws-sdk/lib-dynamodb';
import type { Command } from '../../infra/local/memory/requests.ts';
import { dynamoDbClient } from '../../infra/local/services/dynamodb.ts';
import { databaseEndpoint } from './database.ts';
import { TABLE } from './dynamodb-table.ts';
import { VARIABLES } from './runtime.ts';

/** Members whose value does not change which expressions a request has. */
const DATA = ['Key', 'Keys', 'Item', 'ExpressionAttributeValues', 'ExclusiveStartKey', 'ClientRequestToken', 'Limit'];
/** Errors that depend on the stored items. The request itself is valid. */
const ACCEPTED = /ConditionalCheckFailed|refers to an attribute that does not exist in the item/;

const recorded = new Map<string, Command>();
const sent = new Set<string>();

/** Records a request unless an earlier one had the same expressions. */
export function recordRequest(command: Command): void {
  const shape = JSON.stringify(command, (name, value) => (DATA.includes(name) ? undefined : value));
  const { ClientRequestToken: _, ...input } = command.input; // simulated transactions repeat the tokens of earlier schedules
  if (!sent.has(shape) && !recorded.has(shape)) recorded.set(shape, { ...command, input });
}

/**
 * Sends each recorded request to the database of this worker once, and throws if it rejects one. The table in memory supports
 * only the expressions of this service, and checks them less strictly than DynamoDB.
 */
export async function sendRecorded(): Promise<void> {
  if (recorded.size === 0) return;
  const client = dynamoDbClient(databaseEndpoint());
  await client.send(new CreateTableCommand({ ...TABLE, TableName: VARIABLES.TABLE_NAME })).catch((error: unknown) => {
    if (!(error instanceof ResourceInUseException)) throw error;
  });
  const documents = documentClient.DynamoDBDocumentClient.from(client, {
    marshallOptions: { removeUndefinedValues: true },
  });
  const commands = documentClient as unknown as Record<string, new (input: object) => never>;
  const rejected: string[] = [];
  for (const [shape, { name, input }] of recorded) {
    const Command = commands[`${name}Command`];
    if (!Command) throw new Error(`Unknown command ${name}`);
    await documents.send(new Command(input)).catch((error: Error) => {
      if (!ACCEPTED.test(`${error.name} ${error.message}`)) rejected.push(`${error.message} in ${shape}`);
    });
    sent.add(shape);
  }
  recorded.clear();
  client.destroy();
  if (rejected.length > 0)
    throw new Error(`The database rejects requests that the table in memory accepts:\n${rejected.join('\n')}`);
}
