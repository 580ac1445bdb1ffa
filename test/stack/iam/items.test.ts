import {
  BatchGetItemCommand,
  DeleteItemCommand,
  DynamoDBClient,
  GetItemCommand,
  PutItemCommand,
  QueryCommand,
  TransactWriteItemsCommand,
  UpdateItemCommand,
} from '@aws-sdk/client-dynamodb';
import { describe, expect, it } from 'vitest';
import { REGION } from '../../../infra/local/template.ts';
import { FAST_DELAYS, useService } from '../../support/service.ts';

const service = useService(FAST_DELAYS);
const ALLOWED = { name: 'none' };
const DENIED = { name: 'AccessDeniedException' };

/** Calls the table with the role of a function, and returns the error, if any. */
function roleOf(functionId: string) {
  const { stack } = service;
  const fn = [...stack.functions.values()].find(({ id }) => new RegExp(`^${functionId}[0-9A-F]{8}$`).test(id));
  const client = new DynamoDBClient({
    region: REGION,
    endpoint: stack.endpoints.url('dynamodb'),
    credentials: { accessKeyId: fn?.role ?? '', secretAccessKey: 'local' },
  });
  const TableName = stack.template.ref(stack.template.ofType('AWS::DynamoDB::Table')[0]?.id ?? '');
  const key = (pk: string) => ({ pk: { S: pk }, sk: { S: pk.split('#')[0] ?? '' } });
  const update = (pk: string) => ({
    TableName,
    Key: key(pk),
    UpdateExpression: 'REMOVE revokedAt',
  });
  const item = (pk: string) => ({ TableName, Item: key(pk) });
  const outcome = (sent: Promise<unknown>) =>
    sent.then(
      () => ALLOWED,
      ({ name }: Error) => ({ name }),
    );
  return {
    get: (pk: string) => outcome(client.send(new GetItemCommand({ TableName, Key: key(pk) }))),
    update: (pk: string) => outcome(client.send(new UpdateItemCommand(update(pk)))),
    put: (pk: string) => outcome(client.send(new PutItemCommand(item(pk)))),
    remove: (pk: string) => outcome(client.send(new DeleteItemCommand({ TableName, Key: key(pk) }))),
    /** Runs one transaction that changes an item of one kind and adds an item of another. */
    changeWith: (changed: string, added: string) =>
      outcome(
        client.send(
          new TransactWriteItemsCommand({ TransactItems: [{ Update: update(changed) }, { Put: item(added) }] }),
        ),
      ),
    batchGet: (...pks: string[]) =>
      outcome(client.send(new BatchGetItemCommand({ RequestItems: { [TableName]: { Keys: pks.map(key) } } }))),
    transact: (...pks: string[]) =>
      outcome(client.send(new TransactWriteItemsCommand({ TransactItems: pks.map((pk) => ({ Update: update(pk) })) }))),
    query: (value: string, IndexName?: string) =>
      outcome(
        client.send(
          new QueryCommand({
            TableName,
            IndexName,
            KeyConditionExpression: `${IndexName ? 'keysOf' : 'pk'} = :value`,
            ExpressionAttributeValues: { ':value': { S: value } },
          }),
        ),
      ),
  };
}

describe.each([
  'DeliveryDeliver',
  'DeliveryDeliverNew',
  'DeliveryDeliverSlow',
])('%s, which connects to untrusted hosts,', (id) => {
  it('can read and change the items of deliveries and the budget of emails', async () => {
    const { get, update, put, batchGet, transact } = roleOf(id);
    expect([await get('PROJECT#p'), await get('EMAILS#p'), await put('EMAILS#p')]).toEqual([ALLOWED, ALLOWED, ALLOWED]);
    expect(await update('HOOK#w')).toEqual(ALLOWED);
    expect(await batchGet('HOOKS#p#live', 'EVENT#e', 'HOOK#w')).toEqual(ALLOWED);
    expect(await transact('HOOK#w', 'HOOKS#p#live')).toEqual(ALLOWED);
  });

  it('cannot change projects or events', async () => {
    const { update, put, remove } = roleOf(id);
    for (const pk of ['PROJECT#p', 'EVENT#e'])
      expect([await update(pk), await put(pk), await remove(pk)]).toEqual([DENIED, DENIED, DENIED]);
  });

  it('cannot read or change keys, alone or with other items', async () => {
    const { get, update, batchGet, transact, query } = roleOf(id);
    const outcomes = await Promise.all([
      get('KEY#k'),
      update('KEY#k'),
      batchGet('KEY#k'),
      batchGet('EVENT#e', 'KEY#k'),
      transact('KEY#k'),
      transact('HOOK#w', 'KEY#k'),
      query('KEY#k'),
      query('prj_1', 'by_project'),
    ]);
    expect(outcomes).toEqual(outcomes.map(() => DENIED));
  });
});

describe('a role', () => {
  it.each([
    ['Documents', 'KEY#k'],
    ['Events', 'HOOKS#p#live'],
    ['Tokens', 'PROJECT#p'],
    ['Authorize', 'AUDIT#p'],
    ['Projects', 'KEY#k'],
    ['ConnectionsCheck', 'DOCS#p#live'],
  ])('accesses only its own items: %s does not read %s', async (id, pk) => {
    expect(await roleOf(id).get(pk)).toEqual(DENIED);
  });
});

describe('the audit log', () => {
  it.each([
    'Keys',
    'Tokens',
    'Project',
    'Webhooks',
    'DeliveryDeliver',
  ])('gets new entries from %s, which cannot change or delete any', async (id) => {
    const { put, update, remove } = roleOf(id);
    expect([await put('AUDIT#p'), await update('AUDIT#p'), await remove('AUDIT#p')]).toEqual([ALLOWED, DENIED, DENIED]);
  });

  it('accepts new entries in transactions of changes, but no changed entries', async () => {
    const { changeWith } = roleOf('Tokens');
    expect(await changeWith('KEY#k', 'AUDIT#p')).toEqual(ALLOWED);
    expect(await changeWith('AUDIT#p', 'KEY#k')).toEqual(DENIED);
  });
});

describe('a role', () => {
  it.each([
    ['Tokens', 'remove', 'KEY#k'],
    ['Tokens', 'put', 'KEY#k'],
    ['Documents', 'update', 'EVENT#e'],
    ['Documents', 'remove', 'EVENT#e'],
    ['Documents', 'get', 'EVENT#e'],
    ['Events', 'remove', 'EVENT#e'],
    ['Webhooks', 'update', 'PROJECT#p'],
    ['Keys', 'update', 'PROJECT#p'],
    ['Project', 'put', 'PROJECT#p'],
  ] as const)('has only the actions that it needs: %s does not %s %s', async (id, action, pk) => {
    expect(await roleOf(id)[action](pk)).toEqual(DENIED);
  });
});
