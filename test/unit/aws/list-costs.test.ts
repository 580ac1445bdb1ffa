import { describe, expect, it } from 'vitest';
import { createTable } from '../../../lib/aws/table.ts';
import { deliveryLog } from '../../../lib/deliveries/log-store.ts';
import { eventStore } from '../../../lib/events/store.ts';
import { newId, newSpace, newStoredEvent, now } from '../../memory/contracts/builders.ts';
import { MemoryDynamoDb } from '../../memory/simulation/dynamodb.ts';
import { type Command, runtimeWith } from '../../support/runtime.ts';

/** A table in memory, and the queries that it received. */
function createCounted() {
  const memory = new MemoryDynamoDb();
  const queries: Command['input'][] = [];
  const runtime = runtimeWith(async (command) => {
    if (command.name === 'Query') queries.push(command.input);
    return memory.execute(command);
  });
  return { table: createTable(runtime), queries };
}

const window = { since: 0, until: now, stuckBefore: now };

describe('a page of a space with few events', () => {
  it.each([
    ['events', 72, {}],
    ['events of a type', 12, { type: 'document.deleted' as const }],
    ['events of a document', 6, { documentKey: 'a' }],
    ['events of a document and type', 1, { documentKey: 'a', type: 'document.deleted' as const }],
  ])('of %s needs %d eventually consistent queries', async (_, most, filter) => {
    const { table, queries } = createCounted();
    const space = newSpace();
    await eventStore(table).publish([newStoredEvent({ ...space, documentKey: 'a' })], []);
    expect((await eventStore(table).list(space, { limit: 50, ...filter })).events).toHaveLength(1);
    expect(queries).toHaveLength(most);
    expect(queries.map(({ ConsistentRead }) => ConsistentRead)).toEqual(Array(most).fill(false));
  });

  it.each([
    ['deliveries', 16, {}],
    ['failed deliveries', 16, { status: 'failed' as const }],
    ['delivered deliveries', 16, { status: 'succeeded' as const }],
  ])('of %s needs %d eventually consistent queries', async (_, most, filter) => {
    const { table, queries } = createCounted();
    await deliveryLog(table).list(newId('whk'), { limit: 50, ...filter });
    expect(queries).toHaveLength(most);
    expect(queries.map(({ ConsistentRead }) => ConsistentRead)).toEqual(Array(most).fill(false));
  });

  it('counts the deliveries of a recovery with 80 eventually consistent queries', async () => {
    const { table, queries } = createCounted();
    expect(await deliveryLog(table).countRecoverable(newId('whk'), window)).toBe(0);
    expect(queries.map(({ ConsistentRead }) => ConsistentRead)).toEqual(Array(80).fill(false));
  });
});
