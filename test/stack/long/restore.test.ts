import { DescribeTableCommand } from '@aws-sdk/client-dynamodb';
import { expect, inject, it } from 'vitest';
import { ops } from '../../../infra/commands/ops.ts';
import { createState } from '../../../infra/local/services/state.ts';
import { dynamoDbClient } from '../../../infra/local/services/table.ts';
import { synthesize } from '../../../infra/local/synthesize.ts';
import { unvalidated } from '../../infra/synth.ts';
import { temporaryDirectory } from '../../support/after-file.ts';
import { databaseEndpoint } from '../../support/database.ts';
import { eventually, FAST } from '../../support/service.ts';
import { type Performers, ran } from '../../support/shell.ts';
import { stackPerformers } from '../../support/stack-performers.ts';
import { copyTable } from '../../support/table-performers.ts';
import { beginReplicas, convergeReplicas, loseWork } from './restored-replicas.ts';
import { BETWEEN_STEPS_MS, during, startEndpoints } from './upgrades/deployment.ts';
import { makeDue } from './upgrades/stored.ts';
import { ATTEMPTS, begin, complete, proceed } from './upgrades/work.ts';

it('restores the table to an earlier time, makes the deliveries that waited, and lets all replicas converge', async () => {
  const state = createState();
  const endpoints = await startEndpoints();
  const assembly = inject('assembly');
  const start = Date.now();
  const { work, replicas, at } = await during({ assembly, state, at: start }, async (stack) => {
    const work = await begin(stack, state, endpoints);
    const replicas = await beginReplicas(stack, work);
    return { work, replicas, at: await copyTable(stack) };
  });

  // The messages and schedules of that time are used up before the restore, and so is the stream.
  makeDue(state);
  const later = start + BETWEEN_STEPS_MS;
  const printed = await during({ assembly, state, at: later, pace: FAST }, async (stack) => {
    await complete(stack, work);
    await loseWork(stack, work, replicas);
    await eventually(() => state.messages.size + state.schedules.size === 0);
    const args = ['restore', '--stack', 'Service', '--at', new Date(at).toISOString()];
    const restore = () => ran(ops, args, stackPerformers(stack));
    const { stdout } = await restore();
    expect(stdout).toContain('npx cdk deploy --parameters ConfirmTable=');
    expect((await restore()).stdout).toBe(stdout); // continues with the same table
    return stdout;
  });
  const [, printedTable = ''] = /"table": (\{.*\})/.exec(printed) ?? [];
  const table: { name: string; streamArn: string } = JSON.parse(printedTable);
  const database = dynamoDbClient(databaseEndpoint());
  const { Table } = await database.send(new DescribeTableCommand({ TableName: table.name }));
  expect(Table).toMatchObject({
    StreamSpecification: { StreamEnabled: true, StreamViewType: 'NEW_AND_OLD_IMAGES' },
    DeletionProtectionEnabled: true,
    LatestStreamArn: table.streamArn,
  });
  database.destroy();

  const restored = unvalidated(() => synthesize(temporaryDirectory(), { table }));
  for (const { received } of Object.values(endpoints)) received.length = 0;
  await during({ assembly: restored, state, at: later, pace: FAST }, async (stack) => {
    const args = ['restore', '--stack', 'Service', '--at', new Date(at).toISOString(), '--resume'];
    const performers = stackPerformers(stack);
    const resume = (more: Performers = {}) => ran(ops, args, { ...performers, ...more });
    const stopped: Performers = {
      SendMessageBatch: (input, call) =>
        /Deliveries/.test(input.QueueUrl)
          ? Promise.reject(new Error('An outage after the deliveries are marked'))
          : performers.SendMessageBatch?.(input, call),
    };
    expect((await resume(stopped)).status).toBe(1);
    expect(await resume()).toMatchObject({
      status: 0,
      stdout: expect.stringMatching(/^Queued 1 deliveries in progress, 1 recoveries, \d+ events/),
    });
    await convergeReplicas(stack, work, replicas);
    await proceed(stack, work, endpoints);
    await complete(stack, work, { counted: ATTEMPTS - 2 });
    await resume(); // is harmless
    await eventually(() => state.messages.size + state.schedules.size === 0);
    await complete(stack, work, { counted: ATTEMPTS - 2 });
  });
});
