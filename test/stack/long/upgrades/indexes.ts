import {
  DescribeTableCommand,
  type GlobalSecondaryIndex,
  type GlobalSecondaryIndexUpdate,
  UpdateTableCommand,
} from '@aws-sdk/client-dynamodb';
import type { State } from '../../../../infra/local/services/state.ts';
import { dynamoDbClient } from '../../../../infra/local/services/table.ts';
import { databaseEndpoint } from '../../../support/database.ts';
import { resourcesOf } from './mixed.ts';
import { tableOf } from './stored.ts';

/** Gives the table of a state the indexes of a deployment, as CloudFormation does. The local stack refuses a table with others. */
export async function changeIndexes(state: State, assembly: string): Promise<void> {
  const client = dynamoDbClient(databaseEndpoint());
  const TableName = tableOf(state);
  const { Properties = {} } =
    Object.values(resourcesOf(assembly)).find(({ Type }) => Type === 'AWS::DynamoDB::Table') ?? {};
  const wanted = Properties.GlobalSecondaryIndexes as GlobalSecondaryIndex[];
  const { Table } = await client.send(new DescribeTableCommand({ TableName }));
  const present = (Table?.GlobalSecondaryIndexes ?? []).map(({ IndexName }) => IndexName);
  const removed = present.filter((name) => !wanted.some(({ IndexName }) => IndexName === name));
  const changes: GlobalSecondaryIndexUpdate[] = [
    ...removed.map((IndexName) => ({ Delete: { IndexName } })),
    ...wanted.filter(({ IndexName }) => !present.includes(IndexName)).map((index) => ({ Create: index })),
  ];
  const AttributeDefinitions = Properties.AttributeDefinitions as [];
  // DynamoDB changes one index at a time.
  for (const change of changes)
    await client.send(
      new UpdateTableCommand({ TableName, AttributeDefinitions, GlobalSecondaryIndexUpdates: [change] }),
    );
  client.destroy();
}
