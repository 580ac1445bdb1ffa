import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { ops } from '../../infra/commands/ops.ts';
import { temporaryDirectory } from '../support/after-file.ts';
import { ran } from '../support/shell.ts';

const deploymentFile = join(temporaryDirectory(), 'deployment.json');

const TABLE = 'documents-restored-20260131120000';
const ARN = 'arn:aws:dynamodb:eu-central-1:123456789012:table';
const STREAM = `${ARN}/${TABLE}/stream/2026-01-31T13:00:00.000`;
/** A stack whose restored table needs nothing more than its name. */
const performers = {
  DescribeStacks: () => ({ Stacks: [{ Outputs: [{ OutputKey: 'FanOutFunction', OutputValue: 'fan-out' }] }] }),
  DescribeStackResource: () => ({ StackResourceDetail: { PhysicalResourceId: 'id' } }),
  GetEventSourceMapping: () => ({ EventSourceArn: `${ARN}/documents/stream/2026-01-01T00:00:00.000` }),
  DescribeTable: ({ TableName }: { TableName: string }) => ({
    Table: {
      TableArn: `${ARN}/${TableName}`,
      TableStatus: 'ACTIVE',
      StreamSpecification: { StreamEnabled: true },
      DeletionProtectionEnabled: true,
      LatestStreamArn: STREAM,
    },
  }),
  UpdateTimeToLive: () => {},
  UpdateContinuousBackups: () => {},
  ListTagsOfResource: () => ({ Tags: [{ Key: 'aws:cloudformation:stack-name', Value: 'Service' }] }),
};
const restore = (stack: string) =>
  ran(ops, ['restore', '--stack', stack, '--at', '2026-01-31T12:00:00Z'], performers, { deploymentFile });
const table = { name: TABLE, streamArn: STREAM };

it('writes the restored table to the settings of the stack', async () => {
  const settings = { stackName: 'Service', senderEmail: 'notifications@acme.example' };
  writeFileSync(deploymentFile, JSON.stringify(settings));
  expect(await restore('Service')).toMatchObject({
    status: 0,
    stdout: expect.stringContaining(
      `deployment.json now names the table. Deploy it:\n\n  "table": ${JSON.stringify(table)}\n\n  npx cdk deploy --parameters ConfirmTable=${TABLE}\n`,
    ),
  });
  expect(JSON.parse(readFileSync(deploymentFile, 'utf8'))).toEqual({ ...settings, table });
});

it.each([
  ['another stack', JSON.stringify({ stackName: 'Other', senderEmail: 'notifications@acme.example' })],
  ['no stack', undefined],
])('prints the table when deployment.json has the settings of %s', async (_, text) => {
  if (text === undefined) rmSync(deploymentFile);
  else writeFileSync(deploymentFile, text);
  expect((await restore('Service')).stdout).toContain(
    `Add the table to the settings of the stack, and deploy it:\n\n  "table": ${JSON.stringify(table)}\n`,
  );
  if (text !== undefined) expect(readFileSync(deploymentFile, 'utf8')).toBe(text);
});
