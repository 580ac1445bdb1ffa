import { setTimeout as sleep } from 'node:timers/promises';
import { TIME_TO_LIVE } from '../../lib/deployment.ts';
import { UserError } from '../user-error.ts';
import { type AwsCall, awsCall, type Deployed, deployed } from './aws-cli.ts';
import { command, integer, pastTime, runCommand } from './command.ts';
import { resume } from './resume.ts';

interface TableDescription {
  TableArn: string;
  TableStatus: string;
  LatestStreamArn?: string;
  StreamSpecification?: { StreamEnabled: boolean };
  DeletionProtectionEnabled?: boolean;
}
interface Tag {
  Key: string;
  Value: string;
}

/** The name of the table with the state of another one at a time. A repeated command continues with the same table. */
export function restoredName(tableName: string, atMs: number): string {
  const time = new Date(atMs).toISOString().replace(/\D/g, '').slice(0, 14);
  return `${tableName.replace(/-restored-\d{14}$/, '')}-restored-${time}`;
}

/**
 * Restores the table of a deployment to a new table, and sets what a restore does not set: the stream, the time to live,
 * point-in-time recovery, deletion protection and tags (DynamoDB Developer Guide, "Restore a table").
 */
export async function restoreTable(
  call: AwsCall,
  { tableName }: Pick<Deployed, 'tableName'>,
  atMs: number,
  pause: () => Promise<void>,
): Promise<{ tableName: string; streamArn: string }> {
  const target = restoredName(tableName, atMs);
  const describe = async (TableName: string) =>
    ((await call('dynamodb', 'describe-table', { TableName })) as { Table: TableDescription }).Table;
  const untilActive = async () => {
    let table = await describe(target);
    for (; table.TableStatus !== 'ACTIVE'; table = await describe(target)) await pause();
    return table;
  };
  const source = await describe(tableName);
  const found = await describe(target).catch((error: unknown) => {
    if (!String(error).includes('ResourceNotFoundException')) throw error;
  });
  if (!found) {
    const names = { SourceTableName: tableName, TargetTableName: target };
    const RestoreDateTime = Math.floor(atMs / 1000);
    await call('dynamodb', 'restore-table-to-point-in-time', { ...names, RestoreDateTime });
  }
  const table = await untilActive();
  const update = async (settings: object) => {
    await call('dynamodb', 'update-table', { TableName: target, ...settings });
    await untilActive();
  };
  const StreamSpecification = { StreamEnabled: true, StreamViewType: 'NEW_AND_OLD_IMAGES' };
  if (!table.StreamSpecification?.StreamEnabled) await update({ StreamSpecification });
  if (!table.DeletionProtectionEnabled) await update({ DeletionProtectionEnabled: true });
  const TimeToLiveSpecification = { AttributeName: TIME_TO_LIVE, Enabled: true };
  await call('dynamodb', 'update-time-to-live', { TableName: target, TimeToLiveSpecification }).catch(
    (error: unknown) => {
      if (!String(error).includes('already enabled')) throw error;
    },
  );
  const PointInTimeRecoverySpecification = { PointInTimeRecoveryEnabled: true };
  await call('dynamodb', 'update-continuous-backups', { TableName: target, PointInTimeRecoverySpecification });
  const { Tags } = (await call('dynamodb', 'list-tags-of-resource', { ResourceArn: source.TableArn })) as {
    Tags: Tag[];
  };
  const own = Tags.filter(({ Key }) => !Key.startsWith('aws:')); // AWS sets the others
  if (own.length > 0) await call('dynamodb', 'tag-resource', { ResourceArn: table.TableArn, Tags: own });
  return { tableName: target, streamArn: (await describe(target)).LatestStreamArn ?? '' };
}

const USAGE = {
  command: 'npm run restore',
  about: `Restores the table to an earlier time, as a new table that a deployment then uses. The old table stays as it is.

  1. npm run restore -- --at TIME            creates the table, and prints the command for the deployment
  2. npx cdk deploy --parameters ConfirmTable=…  makes the service use the table
  3. npm run restore -- --resume --at TIME   queues the deliveries that waited at that time`,
  options: {
    at: {
      type: 'string',
      value: 'TIME',
      about: 'the time, such as 2026-01-31T12:00:00Z. The latest one is 5 minutes ago',
    },
    stack: { type: 'string', value: 'NAME', about: 'the name of the stack', default: 'DocumentSyncService' },
    resume: {
      type: 'boolean',
      default: false,
      about: 'queue the deliveries that waited at that time, after the deployment',
    },
    events: {
      type: 'string',
      value: 'MINUTES',
      about: 'with --resume, also deliver events of these minutes before the time that have no deliveries',
      default: '60',
    },
  },
  notes: 'The command requires version 2 of the AWS CLI and credentials.',
} as const;

const AFTER_THE_TIME = `Until the deployment, the service works with the old table. The new table lacks all changes after TIME:
  - Documents, keys and webhooks are as they were. Keys and tokens that were revoked later work again, so revoke them again.
  - Events that were published later are not in the new table. Those that were not delivered yet are not delivered, except
    small events whose first attempt waits in a queue. The old table still contains all of them.
  - Deliveries that ended later are in progress again. Endpoints can receive the same event twice, with the same id.`;

const restore = command(USAGE, async ({ values }) => {
  const at = pastTime('--at', values.at, Date.now());
  const minutes = integer('events', values.events, 0, 1440);
  const service = await deployed(awsCall, values.stack);
  if (values.resume) {
    if (!service.tableName.endsWith(restoredName('', at)))
      throw new UserError(`The stack uses the table ${service.tableName}. Deploy it with the restored table first.`);
    const { deliveries, events, connections } = await resume(awsCall, service, at - minutes * 60_000);
    process.stdout.write(
      `Queued ${deliveries} deliveries in progress, ${events} events and ${connections} checks of connections.\n`,
    );
    return;
  }
  const { tableName, streamArn } = await restoreTable(awsCall, service, at, () => sleep(15_000));
  process.stdout.write(`${AFTER_THE_TIME.replace('TIME', values.at ?? '')}

Add the table to deployment.json, and deploy:

  "table": ${JSON.stringify({ name: tableName, streamArn })}

  npx cdk deploy --parameters ConfirmTable=${tableName}
`);
});

if (import.meta.main) await runCommand(restore);
