import { ResourceNotFoundException } from '@aws-sdk/client-dynamodb';
import { expect, it } from 'vitest';
import { ops } from '../../infra/commands/ops.ts';
import { type Performers, ran } from '../support/shell.ts';

const TABLE = { ResourceType: 'AWS::DynamoDB::Table', PhysicalResourceId: 'Table1', LogicalResourceId: 'Table' };

/** Runs the command on a stack. Returns the changes that it made. */
async function discard({
  status = 'ROLLBACK_COMPLETE',
  items = 0,
  more = {},
}: {
  status?: string;
  items?: number;
  more?: Performers;
}) {
  const changes: object[] = [];
  const change = (name: string) => (input: object) => void changes.push({ [name]: input });
  let looks = 0;
  const performers: Performers = {
    DescribeStacks: () => ({ Stacks: [{ StackStatus: status }] }),
    DescribeStackEvents: () => ({
      StackEvents: [TABLE, { ...TABLE, PhysicalResourceId: '' }, TABLE, { ...TABLE, ResourceType: 'AWS::S3::Bucket' }],
    }),
    DescribeTable: () => ({
      Table: { DeletionProtectionEnabled: true, TableStatus: looks++ === 1 ? 'UPDATING' : 'ACTIVE' },
    }),
    Scan: () => ({ Count: items }),
    UpdateTable: change('UpdateTable'),
    DeleteTable: change('DeleteTable'),
    UpdateTerminationProtection: change('UpdateTerminationProtection'),
    ...more,
  };
  return { ...(await ran(ops, ['discard', '--stack', 'Service'], performers)), changes };
}

const UNPROTECTED = { UpdateTerminationProtection: { StackName: 'Service', EnableTerminationProtection: false } };

it('deletes the empty table of a failed first deployment, and ends the protection of its stack', async () => {
  const { status, stdout, changes } = await discard({});
  expect([status, stdout]).toEqual([
    0,
    'Deleted the table Table1.\nTo deploy again, run npx cdk deploy. It replaces the stack.\n',
  ]);
  expect(changes).toEqual([
    { UpdateTable: { TableName: 'Table1', DeletionProtectionEnabled: false } },
    { DeleteTable: { TableName: 'Table1' } },
    UNPROTECTED,
  ]);
});

it('continues after an interruption', async () => {
  const DescribeTable = () => {
    throw new ResourceNotFoundException({ message: '', $metadata: {} });
  };
  expect((await discard({ more: { DescribeTable } })).changes).toEqual([UNPROTECTED]);
});

it.each([
  'CREATE_COMPLETE',
  'UPDATE_COMPLETE',
  'UPDATE_ROLLBACK_COMPLETE',
  'CREATE_IN_PROGRESS',
  'CREATE_FAILED',
])('changes nothing of a stack that is %s', async (state) => {
  const { status, stderr, changes } = await discard({ status: state });
  expect([status, changes]).toEqual([1, []]);
  expect(stderr).toBe(
    `The stack Service is ${state}. Only a first deployment that was rolled back can be discarded.\n`,
  );
});

it('changes nothing if the table has items', async () => {
  const { status, stderr, changes } = await discard({ items: 1 });
  expect([status, stderr, changes]).toEqual([1, 'The table Table1 has items, so nothing was removed.\n', []]);
});

it('says that there is no stack', async () => {
  const DescribeStacks = () => {
    throw new Error('Stack with id Service does not exist');
  };
  const { status, stderr } = await discard({ more: { DescribeStacks } });
  expect([status, stderr]).toEqual([
    1,
    'The stack Service does not exist in this account and region. Run npx cdk deploy.\n',
  ]);
});
