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

/** Calls the table with the role of a function, and returns the name of the error, if any. */
function roleOf(functionId: string) {
  const { stack } = service;
  const fn = [...stack.functions.values()].find(({ id }) => new RegExp(`^${functionId}[0-9A-F]{8}$`).test(id));
  if (!fn) throw new Error(`There is no function ${functionId}`);
  const client = new DynamoDBClient({
    region: REGION,
    endpoint: stack.endpoints.url('dynamodb'),
    credentials: { accessKeyId: fn.role, secretAccessKey: 'local' },
  });
  const TableName = stack.tableName;
  const key = (pk: string) => ({ pk: { S: pk }, sk: { S: pk.split('#')[0] ?? '' } });
  const update = (pk: string) => ({ TableName, Key: key(pk), UpdateExpression: 'REMOVE revokedAt' });
  const item = (pk: string) => ({ TableName, Item: key(pk) });
  const query = (name: string, value: string, IndexName?: string) =>
    new QueryCommand({
      TableName,
      IndexName,
      KeyConditionExpression: `${name} = :value`,
      ExpressionAttributeValues: { ':value': { S: value } },
    });
  const commands = {
    get: (pk: string) => new GetItemCommand({ TableName, Key: key(pk) }),
    update: (pk: string) => new UpdateItemCommand(update(pk)),
    put: (pk: string) => new PutItemCommand(item(pk)),
    remove: (pk: string) => new DeleteItemCommand({ TableName, Key: key(pk) }),
    batchGet: (...pks: string[]) => new BatchGetItemCommand({ RequestItems: { [TableName]: { Keys: pks.map(key) } } }),
    change: (...pks: string[]) =>
      new TransactWriteItemsCommand({ TransactItems: pks.map((pk) => ({ Update: update(pk) })) }),
    /** Changes an item and adds another one in one transaction. */
    changeWith: (changed: string, added: string) =>
      new TransactWriteItemsCommand({ TransactItems: [{ Update: update(changed) }, { Put: item(added) }] }),
    query: (pk: string) => query('pk', pk),
    queryIndex: (project: string) => query('keysOf', project, 'by_project'),
  };
  return async (action: keyof typeof commands, ...pks: string[]): Promise<string> => {
    const command = (commands[action] as (...pks: string[]) => GetItemCommand)(...pks);
    return client.send(command).then(
      () => 'none',
      ({ name }: Error) => name,
    );
  };
}

type Access = Parameters<ReturnType<typeof roleOf>>;

const LANES = ['DeliveryDeliver', 'DeliveryDeliverNew', 'DeliveryDeliverSlow'];
/** What a lane cannot do, because it connects to untrusted hosts. */
const DENIED_TO_LANES: Access[] = [
  ['get', 'KEY#k'],
  ['update', 'KEY#k'],
  ['batchGet', 'EVENT#e', 'KEY#k'],
  ['change', 'HOOK#w', 'KEY#k'],
  ['query', 'KEY#k'],
  ['queryIndex', 'prj_1'],
  ...['PROJECT#p', 'EVENT#e'].flatMap((pk): Access[] => [
    ['update', pk],
    ['put', pk],
    ['remove', pk],
  ]),
];

/** What a role cannot do, because the code of its function does not. */
const DENIED: [role: string, ...Access][] = [
  ...LANES.flatMap((role) => DENIED_TO_LANES.map((access): [string, ...Access] => [role, ...access])),
  ['Documents', 'get', 'KEY#k'],
  ['Events', 'get', 'HOOKS#p#live'],
  ['Tokens', 'get', 'PROJECT#p'],
  ['Authorize', 'get', 'AUDIT#p'],
  ['Projects', 'get', 'KEY#k'],
  ['ConnectionsCheck', 'get', 'DOCS#p#live'],
  ['Tokens', 'remove', 'KEY#k'],
  ['Tokens', 'put', 'KEY#k'],
  ['Documents', 'update', 'EVENT#e'],
  ['Documents', 'remove', 'EVENT#e'],
  ['Documents', 'get', 'EVENT#e'],
  ['Events', 'remove', 'EVENT#e'],
  ['Webhooks', 'update', 'PROJECT#p'],
  ['Keys', 'update', 'PROJECT#p'],
  ['Project', 'put', 'PROJECT#p'],
  ...['Keys', 'Tokens', 'Project', 'Webhooks', 'DeliveryDeliver'].flatMap((role): [string, ...Access][] => [
    [role, 'update', 'AUDIT#p'],
    [role, 'remove', 'AUDIT#p'],
  ]),
  ['Tokens', 'changeWith', 'AUDIT#p', 'KEY#k'],
];

describe('a role', () => {
  it.each(DENIED)('of %s is denied %s of %s %s', async (role, ...access) => {
    expect(await roleOf(role)(...access)).toBe('AccessDeniedException');
  });

  it.each<[role: string, ...Access]>([
    ['DeliveryDeliver', 'batchGet', 'HOOKS#p#live', 'EVENT#e', 'HOOK#w'],
    ['DeliveryDeliver', 'change', 'HOOK#w', 'HOOKS#p#live'],
    ['Tokens', 'changeWith', 'KEY#k', 'AUDIT#p'],
  ])('of %s is allowed %s of %s %s, so a denial is none of the request', async (role, ...access) => {
    expect(await roleOf(role)(...access)).toBe('none');
  });
});
