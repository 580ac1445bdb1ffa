import { DynamoDBClient, ListTablesCommand } from '@aws-sdk/client-dynamodb';
import { ListBucketsCommand, S3Client } from '@aws-sdk/client-s3';
import { beforeAll, describe, expect, it } from 'vitest';
import { callerOf, clientOf, denialsIn, failuresIn, servedApi, stackOf } from './account.ts';
import { STACK } from './checkout.ts';
import { type Account, createProject, deliverDocument, openAccount } from './deployed.ts';
import { CAUSE, failing } from './failing.ts';

describe('a first deployment that fails', () => {
  let account: Account;
  beforeAll(async () => {
    account = await openAccount();
    const { status, output } = await account.checkout.deploy(failing(await account.checkout.synthesize({})));
    expect([status, output]).toEqual([1, expect.stringContaining(CAUSE)]);
  });

  const left = async () => {
    const { TableNames } = await clientOf(DynamoDBClient, account.emulator).send(new ListTablesCommand());
    const { Buckets = [] } = await clientOf(S3Client, account.emulator).send(new ListBucketsCommand());
    return { tables: TableNames, buckets: Buckets.filter(({ Name }) => !Name?.startsWith('cdk-')) };
  };

  it('leaves nothing but a protected stack and its empty table, which a command removes', async () => {
    expect(await stackOf(account.emulator)).toMatchObject({
      StackStatus: 'ROLLBACK_COMPLETE',
      EnableTerminationProtection: true,
    });
    expect(await left()).toEqual({ tables: [expect.stringContaining('Table')], buckets: [] });
    expect(await account.checkout.ops('discard', '--stack', STACK)).toMatch(/^Deleted the table .+\n/);
    expect(await left()).toEqual({ tables: [], buckets: [] });
  });

  it('can be repeated with other settings', async () => {
    const { checkout, emulator } = account;
    const { status, output } = await checkout.deploy(await checkout.synthesize({ encryption: 'customer' }));
    expect([status, output]).toEqual([0, expect.anything()]);
    const api = await servedApi(emulator);
    await deliverDocument(await createProject(account, api), (credential) => callerOf(api, credential));
    expect(denialsIn(emulator)).toEqual([]);
    expect(await failuresIn(emulator)).toEqual([]);
  });

  it('is the only kind of stack that the command accepts', async () => {
    const { status, output } = await account.checkout.run(
      'npm',
      'run',
      '--silent',
      'ops',
      '--',
      'discard',
      '--stack',
      STACK,
    );
    expect([status, output]).toEqual([1, expect.stringContaining(`The stack ${STACK} is CREATE_COMPLETE.`)]);
    expect((await left()).tables).toHaveLength(1);
  });
});
