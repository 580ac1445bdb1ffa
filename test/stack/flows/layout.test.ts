import { DynamoDBDocumentClient, ScanCommand } from '@aws-sdk/lib-dynamodb';
import { afterAll, expect, it } from 'vitest';
import { dynamoDbClient } from '../../../infra/local/services/dynamodb.ts';
import { put } from '../../../lib/aws/expressions.ts';
import { createTable } from '../../../lib/aws/table.ts';
import { LAYOUT, LAYOUT_KEY } from '../../../lib/deployment.ts';
import { putEvent } from '../../../lib/events/store.ts';
import { newDelivery } from '../../memory/contracts/builders.ts';
import { databaseEndpoint } from '../../support/database.ts';
import { runtimeWith, VARIABLES } from '../../support/runtime.ts';
import { eventually, FAST, useService } from '../../support/service.ts';

// The file needs its own stack. Only CreateProject has run when the layout changes, so all other functions start after it.
const service = useService({ ...FAST, concurrency: 3 });
const documents = DynamoDBDocumentClient.from(dynamoDbClient(databaseEndpoint()));
afterAll(() => documents.destroy());

it('writes nothing to a table with a newer layout, returns 503 and loses no work', async () => {
  const { stack, log } = service;
  const name = stack.template.ref('Table');
  const table = createTable({
    ...runtimeWith(async () => ({})),
    variables: { ...VARIABLES, TABLE_NAME: name },
    client: () => documents as never,
  });
  const setLayout = (layout: number) => table.write([put({ ...LAYOUT_KEY, layout })]);
  const items = async () => {
    const { Items = [] } = await documents.send(new ScanCommand({ TableName: name, ConsistentRead: true }));
    return new Map(Items.map((item) => [`${item.pk} ${item.sk}`, item]));
  };
  const { admin } = await service.project();
  const create = () => admin('POST', '/v1/keys', { body: { type: 'live' } });
  await setLayout(LAYOUT + 1);
  const { event, message } = newDelivery();
  await table.write([putEvent(event)]);
  const before = await items();

  const response = await create();
  expect([response.status, response.body.code, response.headers['retry-after']]).toEqual([503, 'unavailable', '1']);
  stack.queues.get('Deliveries')?.send(JSON.stringify(message()));
  const found = `The table has layout ${LAYOUT + 1}, but this release needs layout ${LAYOUT}`;
  for (const failure of ['authorization.failed', 'event.fan_out_failed', 'delivery.handling_failed'])
    await eventually(() => log.some((line) => line.includes(failure) && line.includes(found)));
  expect(await items()).toEqual(before);

  await setLayout(LAYOUT);
  expect((await create()).status).toBe(201);
  await eventually(() => log.some((line) => line.includes('events.fanned_out') && line.includes('"events":1')));
  await eventually(() => log.some((line) => line.includes('delivery.not_attempted') && line.includes(event.id)));
});
