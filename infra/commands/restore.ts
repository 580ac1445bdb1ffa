import {
  ContinuousBackupsUnavailableException,
  DescribeTableCommand,
  DynamoDBClient,
  GetItemCommand,
  ListTagsOfResourceCommand,
  type ListTagsOfResourceOutput,
  ResourceNotFoundException,
  RestoreTableToPointInTimeCommand,
  type TableDescription,
  type Tag,
  TagResourceCommand,
  UpdateContinuousBackupsCommand,
  UpdateItemCommand,
  UpdateTableCommand,
  type UpdateTableCommandInput,
  UpdateTimeToLiveCommand,
} from '@aws-sdk/client-dynamodb';
import { marshall } from '@aws-sdk/util-dynamodb';
import { LAYOUT_KEY, TIME_TO_LIVE } from '../../lib/deployment.ts';
import { nextEpoch } from '../../lib/documents/epochs.ts';
import { readDeployment, updateDeployment } from '../settings.ts';
import { UserError } from '../user-error.ts';
import { command, type Shell } from './command.ts';
import { type Deployment, deploymentOf, STACK_OPTION } from './deployment.ts';
import { resume } from './resume.ts';
import { integer, pastTime } from './usage.ts';

/** The time between two looks at a table that is not ready yet. */
const LOOK_MS = 15_000;
/** The looks in which a new table can still be missing, during five minutes. */
const LOOKS_WITHOUT_TABLE = 20;
/** The looks in which a new table can lack backups, during 20 minutes. DynamoDB can need about ten. */
const LOOKS_WITHOUT_BACKUPS = 80;

const AFTER_THE_TIME = `Until the deployment, the service works with the old table. The new table lacks all changes after TIME:
  - Documents, keys and webhooks are as they were. Keys and tokens that were revoked later work again, so revoke them again.
  - Events that were published later are not in the new table. Those that were not delivered yet are not delivered, except
    small events whose first attempt waits in a queue. The old table still contains all of them.
  - Deliveries that ended later are in progress again. Endpoints can receive the same event twice, with the same id.
  - Revisions continue above all that were issued before. Replicas synchronize again without a checkpoint, and receivers that
    keep copies of documents read them again. infra/RUNBOOK.md has a text for customers.`;

export const restore = command(
  {
    command: 'restore',
    about: `Restores the table of a deployment to an earlier time, as a new table that a deployment then uses.
The old table stays as it is.

  1. npm run ops -- restore --stack NAME --at TIME            creates the table, and writes it to deployment.json
  2. npx cdk deploy --parameters ConfirmTable=…               makes the service use the table
  3. npm run ops -- restore --stack NAME --at TIME --resume   queues the deliveries that waited at that time`,
    options: {
      ...STACK_OPTION,
      at: { type: 'string', value: 'TIME', about: 'a time such as 2026-01-31T12:00:00Z, at least 5 minutes ago' },
      resume: { type: 'boolean', about: 'queue the deliveries that waited at that time, after the deployment' },
      events: { type: 'string', value: 'MINUTES', default: '60', about: 'age of events that --resume also delivers' },
    },
  },
  async ({ values: { stack, at: text = '', events, ...values } }, shell) => {
    const at = pastTime('--at', text);
    const minutes = integer('events', events, 0, 1440);
    const service = await deploymentOf(shell, stack);
    if (values.resume) {
      if (!service.tableName.endsWith(restoredName('', at)))
        throw new UserError(`The stack uses the table ${service.tableName}. Deploy it with the restored table first.`);
      const { deliveries, recoveries, events, connections } = await resume(shell, service, at - minutes * 60_000);
      return shell.print(
        `Queued ${deliveries} deliveries in progress, ${recoveries} recoveries, ${events} events and ${connections} checks of connections.\n`,
      );
    }
    const isWritten = readDeployment(shell.deploymentFile)?.stackName === stack; // before the restore, which takes an hour
    const table = await restoreTable(shell, service, at);
    if (isWritten) updateDeployment({ table }, shell.deploymentFile);
    shell.print(`${AFTER_THE_TIME.replace('TIME', text)}

${isWritten ? 'deployment.json now names the table. Deploy it:' : 'Add the table to the settings of the stack, and deploy it:'}

  "table": ${JSON.stringify(table)}

  npx cdk deploy --parameters ConfirmTable=${table.name}
`);
  },
);

/** The name of the table with the state of another one at a time. A repeated command continues with the same table. */
function restoredName(tableName: string, atMs: number): string {
  const time = new Date(atMs).toISOString().replace(/\D/g, '').slice(0, 14);
  return `${tableName.replace(/-restored-\d{14}$/, '')}-restored-${time}`;
}

/**
 * Restores the table of a deployment to a new table, and sets what a restore does not set: the stream, the time to live,
 * point-in-time recovery, deletion protection and tags (DynamoDB Developer Guide, "Restore a table").
 */
async function restoreTable({ client, wait, say }: Shell, { tableName }: Deployment, atMs: number) {
  const database = client(DynamoDBClient);
  const target = restoredName(tableName, atMs);
  const describe = async (TableName: string): Promise<TableDescription> =>
    (await database.send(new DescribeTableCommand({ TableName }))).Table ?? {};
  const find = () =>
    describe(target).catch((error: unknown) => {
      if (!(error instanceof ResourceNotFoundException)) throw error;
    });
  // Waits before the first look, because a description is eventually consistent (DynamoDB API Reference, `DescribeTable`).
  const untilActive = async (looksWithout = 0): Promise<TableDescription> => {
    await wait(LOOK_MS);
    const table = await (looksWithout > 0 ? find() : describe(target));
    return table?.TableStatus === 'ACTIVE' ? table : untilActive(looksWithout - 1);
  };
  const source = await describe(tableName);
  const found = await find();
  if (!found) {
    const names = { SourceTableName: tableName, TargetTableName: target };
    const RestoreDateTime = new Date(Math.floor(atMs / 1000) * 1000);
    await database.send(new RestoreTableToPointInTimeCommand({ ...names, RestoreDateTime }));
  }
  const isActive = found?.TableStatus === 'ACTIVE';
  if (!isActive)
    say(`DynamoDB restores the table as ${target}, which can take an hour. If you stop, repeat the command.`);
  const table = isActive ? found : await untilActive(LOOKS_WITHOUT_TABLE);
  const update = async (settings: Omit<UpdateTableCommandInput, 'TableName'>) => {
    await database.send(new UpdateTableCommand({ TableName: target, ...settings }));
    await untilActive();
  };
  if (!table.StreamSpecification?.StreamEnabled)
    await update({ StreamSpecification: { StreamEnabled: true, StreamViewType: 'NEW_AND_OLD_IMAGES' } });
  if (!table.DeletionProtectionEnabled) await update({ DeletionProtectionEnabled: true });
  const TimeToLiveSpecification = { AttributeName: TIME_TO_LIVE, Enabled: true };
  await database
    .send(new UpdateTimeToLiveCommand({ TableName: target, TimeToLiveSpecification }))
    .catch((error: Error) => {
      if (!error.message.includes('already enabled')) throw error;
    });
  const PointInTimeRecoverySpecification = { PointInTimeRecoveryEnabled: true };
  const enableRecovery = async (looksWithout: number): Promise<void> => {
    try {
      await database.send(new UpdateContinuousBackupsCommand({ TableName: target, PointInTimeRecoverySpecification }));
    } catch (error) {
      if (!(error instanceof ContinuousBackupsUnavailableException) || looksWithout === 0) throw error;
      await wait(LOOK_MS);
      await enableRecovery(looksWithout - 1);
    }
  };
  await enableRecovery(LOOKS_WITHOUT_BACKUPS);
  const own: Tag[] = [];
  let NextToken: string | undefined;
  do {
    const list = new ListTagsOfResourceCommand({ ResourceArn: source.TableArn, NextToken });
    const page: ListTagsOfResourceOutput = await database.send(list);
    own.push(...(page.Tags ?? []).filter(({ Key }) => !Key?.startsWith('aws:'))); // AWS sets the others
    NextToken = page.NextToken;
  } while (NextToken !== undefined);
  if (own.length > 0) await database.send(new TagResourceCommand({ ResourceArn: table.TableArn, Tags: own }));
  await raiseEpoch(database, tableName, target);
  return { name: target, streamArn: (await describe(target)).LatestStreamArn ?? '' };
}

/**
 * Starts a new epoch in a restored table, so that its revisions are greater than those of the table that it replaces. The epoch of
 * a backup is at most that of its table, so a greater one is the result of an earlier run.
 */
async function raiseEpoch(database: DynamoDBClient, source: string, target: string): Promise<void> {
  const Key = marshall(LAYOUT_KEY);
  const epochOf = async (TableName: string): Promise<number> => {
    const { Item } = await database.send(new GetItemCommand({ TableName, Key, ConsistentRead: true }));
    return Number(Item?.epoch?.N ?? 0);
  };
  const [current, restored] = [await epochOf(source), await epochOf(target)];
  if (restored > current || target === source) return;
  const epoch = nextEpoch(current, Date.now());
  await database.send(
    new UpdateItemCommand({
      TableName: target,
      Key,
      UpdateExpression: 'SET epoch = :epoch',
      ExpressionAttributeValues: marshall({ ':epoch': epoch }),
    }),
  );
}
