import { GetItemCommand, paginateScan } from '@aws-sdk/client-dynamodb';
import { marshall, unmarshall } from '@aws-sdk/util-dynamodb';
import { expect, it } from 'vitest';
import { dynamoDbClient } from '../../../infra/local/services/dynamodb.ts';
import { type ItemKey, itemKey } from '../../../lib/aws/items.ts';
import { SETTLE_MS } from '../../../lib/projects/deletion.ts';
import { changed } from '../../support/changed.ts';
import { databaseEndpoint } from '../../support/database.ts';
import { writeItems } from '../../support/items.ts';
import { startReceiver } from '../../support/receiver.ts';
import { createWebhook, deliveryOf, publish } from '../../support/requests.ts';
import { eventually, useService } from '../../support/service.ts';

const service = useService();

/** Half of them are documents, the others are events. */
const ITEMS = Number(process.env.ITEMS ?? 5_000);
const HALF = ITEMS / 2;

/** A client of the service's table. */
function openTable() {
  const client = dynamoDbClient(databaseEndpoint());
  const TableName = service.stack.tableName;
  return {
    async itemsOf(...ids: string[]): Promise<Record<string, unknown>[]> {
      const found: Record<string, unknown>[] = [];
      for await (const { Items = [] } of paginateScan({ client }, { TableName, ConsistentRead: true }))
        found.push(
          ...Items.filter((item) => ids.some((id) => JSON.stringify(item).includes(id))).map((item) =>
            unmarshall(item),
          ),
        );
      return found;
    },
    async has(key: ItemKey): Promise<boolean> {
      return (await client.send(new GetItemCommand({ TableName, Key: marshall(key) }))).Item !== undefined;
    },
    close: () => client.destroy(),
  };
}

const operate = (operation: { operation: string }) => service.stack.invoke('Projects', operation) as Promise<never>;

/** Repeats an operation until it succeeds, because the database can be too slow on a busy machine. */
const completed = (operation: { operation: string }): Promise<never> =>
  eventually(() => operate(operation).catch(() => undefined));

/** Starts an operation, and ends its execution environment when a condition is true. */
async function kill(operation: { operation: string }, when: () => Promise<boolean> = async () => true): Promise<void> {
  const fn = [...service.stack.functions.values()].find(({ id }) => /^Projects[0-9A-F]{8}$/.test(id));
  const failed = expect(operate(operation)).rejects.toThrow();
  await eventually(async () => (await when()) && fn?.killOne());
  await failed;
}

it(`exports and deletes a project of ${ITEMS} items, although its function is killed, while others are busy`, async () => {
  const { stack } = service;
  const other = await service.project('Other');
  const busy = await other.client('live');
  const receiver = await startReceiver();
  const { id } = await createWebhook(busy, receiver.url);
  const large = await service.project('Large');
  const live = await large.client('live');
  const webhook = await createWebhook(live, (await startReceiver()).url);
  await live('PUT', '/v1/documents/d', { body: { fields: { a: 1 } } });
  const { id: eventId } = (await publish(live)).body;

  const table = openTable();
  const space = { projectId: large.id, environment: 'live' } as const;
  const items = await table.itemsOf(large.id);
  const like = ({ pk, sk }: ItemKey) => items.find((item) => item.pk === pk && item.sk === sk);
  const [document, event] = [like(itemKey.document(space, 'd')), like(itemKey.event(space, eventId))];
  expect([document, event]).toEqual([expect.anything(), expect.anything()]);
  const copy = (i: number) => itemKey.document(space, `copy:${String(i).padStart(6, '0')}`);
  const copies = Array.from({ length: HALF }, (_, i) => {
    const id = `evt_${String(i).padStart(26, '0')}`;
    return [
      { ...document, ...copy(i) },
      { ...event, ...itemKey.event(space, id), body: String(event?.body).replaceAll(eventId, id) },
    ];
  });
  await writeItems(stack, databaseEndpoint(), copies.flat());

  const accepted: string[] = [];
  let isOver = false;
  const load = (async () => {
    while (!isOver) {
      const { status, body } = await busy('POST', '/v1/events', { body: changed() });
      expect([202, 503]).toContain(status);
      if (status === 202) accepted.push(body.id);
      if (status === 202) await eventually(() => deliveryOf(busy, id, body.id));
    }
  })();

  const lines: { type: string }[] = [];
  for (let [after, kills]: [object | null, number] = [{}, 3]; after; kills--) {
    const operation = { operation: 'export', id: large.id, ...(lines.length > 0 && { after }) };
    if (kills > 0) await kill(operation);
    const page: { lines: string[]; next: object | null } = await completed(operation);
    lines.push(...page.lines.map((line) => JSON.parse(line)));
    after = page.next;
  }
  const exported = (type: string) => lines.filter((line) => line.type === type).length;
  expect([exported('document'), exported('event')]).toEqual([HALF + 1, HALF + 2]); // with the event of the document

  const deletion = { operation: 'delete', id: large.id, name: 'Large' };
  for (const part of [0.25, 0.5, 0.75]) await kill(deletion, async () => !(await table.has(copy(HALF * part))));
  for (;;) {
    const { state, waits_until }: { state: string; waits_until: string | null } = await completed(deletion);
    if (state === 'deleted') break;
    if (waits_until) stack.clock.advance(SETTLE_MS);
  }
  isOver = true;
  await load;
  expect((await table.itemsOf(large.id, webhook.id)).map(({ pk }) => pk)).toEqual([`DELETION#${large.id}`]);
  table.close();
  stack.clock.advance(60_000); // repeats an attempt that was too slow on a busy machine
  const received = () => new Set(receiver.received.map(({ headers }) => headers['x-service-event-id']));
  await eventually(() => received().isSupersetOf(new Set(accepted)));
});
