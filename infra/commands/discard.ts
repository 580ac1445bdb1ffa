import {
  CloudFormationClient,
  DescribeStacksCommand,
  paginateDescribeStackEvents,
  UpdateTerminationProtectionCommand,
} from '@aws-sdk/client-cloudformation';
import {
  DeleteTableCommand,
  DescribeTableCommand,
  DynamoDBClient,
  ResourceNotFoundException,
  ScanCommand,
  UpdateTableCommand,
} from '@aws-sdk/client-dynamodb';
import { UserError } from '../user-error.ts';
import { command, type Shell } from './command.ts';
import { STACK_OPTION } from './deployment.ts';

/** The pause between two checks of a table that is being updated. */
const LOOK_MS = 2000;
/** The states of a stack whose creation failed, and which the CDK replaces. It continues a stack in `CREATE_FAILED`. */
const FAILED = ['ROLLBACK_COMPLETE', 'ROLLBACK_FAILED'];

export const discard = command(
  {
    command: 'discard',
    about: `Removes what a failed first deployment left, so that \`npx cdk deploy\` can run again.
CloudFormation keeps the table and protects the stack. The command rejects a stack that was deployed once, and a table with items.`,
    options: STACK_OPTION,
  },
  async ({ values: { stack: StackName } }, shell) => {
    if (!StackName) throw new UserError('Pass --stack NAME.');
    const client = shell.client(CloudFormationClient);
    const status = await statusOf(client, StackName);
    if (!FAILED.includes(status))
      throw new UserError(
        `The stack ${StackName} is ${status}. Only a first deployment that was rolled back can be discarded.`,
      );
    // The events, because the resources of the stack do not have to include those that it kept.
    const tables = new Set<string>();
    for await (const { StackEvents = [] } of paginateDescribeStackEvents({ client }, { StackName }))
      for (const { ResourceType, PhysicalResourceId } of StackEvents)
        if (ResourceType === 'AWS::DynamoDB::Table' && PhysicalResourceId) tables.add(PhysicalResourceId);
    for (const table of tables) if (await deleteEmptyTable(shell, table)) shell.print(`Deleted the table ${table}.\n`);
    await client.send(new UpdateTerminationProtectionCommand({ StackName, EnableTerminationProtection: false }));
    shell.print('To deploy again, run npx cdk deploy. It replaces the stack.\n');
  },
);

async function statusOf(client: CloudFormationClient, StackName: string): Promise<string> {
  const { Stacks } = await client.send(new DescribeStacksCommand({ StackName })).catch((error: Error) => {
    if (!error.message.includes('does not exist')) throw error;
    throw new UserError(`The stack ${StackName} does not exist in this account and region. Run npx cdk deploy.`);
  });
  return Stacks?.[0]?.StackStatus ?? 'unknown';
}

/** Returns whether there was a table. Throws `UserError` if it has items, because it then belongs to more than a failed deployment. */
async function deleteEmptyTable({ client, wait }: Shell, TableName: string): Promise<boolean> {
  const database = client(DynamoDBClient);
  const find = () =>
    database.send(new DescribeTableCommand({ TableName })).catch((error: unknown) => {
      if (!(error instanceof ResourceNotFoundException)) throw error;
    });
  const found = await find();
  if (!found) return false;
  const { Count } = await database.send(new ScanCommand({ TableName, Limit: 1, ConsistentRead: true }));
  if (Count !== 0) throw new UserError(`The table ${TableName} has items, so nothing was removed.`);
  if (found.Table?.DeletionProtectionEnabled)
    await database.send(new UpdateTableCommand({ TableName, DeletionProtectionEnabled: false }));
  while ((await find())?.Table?.TableStatus === 'UPDATING') await wait(LOOK_MS);
  await database.send(new DeleteTableCommand({ TableName }));
  return true;
}
