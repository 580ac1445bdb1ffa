import { PutItemCommand, ScanCommand } from '@aws-sdk/client-dynamodb';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { consumedPosition, retention } from '../../../infra/local/retention.ts';
import type { PlaceRange } from '../../../infra/local/services/data-file.ts';
import { startDatabase } from '../../../infra/local/services/database.ts';
import { dynoxideBinary } from '../../../infra/local/services/dynoxide.ts';
import { localStreams } from '../../../infra/local/services/streams.ts';
import { dynamoDbClient, openTable } from '../../../infra/local/services/table.ts';
import { HOUR_MS } from '../../memory/contracts/builders.ts';
import { TABLE } from '../../support/dynamodb-table.ts';

const TableName = 'Table';
const NOW = Date.now();

const databases = dynoxideBinary() === null ? (['memory'] as const) : (['memory', 'dynoxide'] as const);

describe.each(databases)('the data of a running stack in %s', (name) => {
  async function open() {
    const { endpoint, data, stop } = await startDatabase(name);
    if (!data) throw new Error('The database has no file');
    const client = dynamoDbClient(endpoint);
    const streams = localStreams(endpoint);
    onTestFinished(() => {
      client.destroy();
      streams.destroy();
      stop();
    });
    const properties = { ...TABLE, StreamSpecification: { StreamViewType: 'NEW_AND_OLD_IMAGES' } };
    const { streamArn } = await openTable(
      { ref: String, ofType: () => [{ id: TableName, properties }] } as never,
      endpoint,
    );
    return {
      put: (pk: string, sk: string, members: object = {}) =>
        client.send(new PutItemCommand({ TableName, Item: { pk: { S: pk }, sk: { S: sk }, ...members } })),
      bytes: () => data.bytes(),
      oldest: (range: PlaceRange) => data.oldestItems(TableName, range),
      async keys() {
        const { Items = [] } = await client.send(new ScanCommand({ TableName }));
        return Items.map(({ pk, sk }) => `${pk?.S} ${sk?.S}`).sort();
      },
      async records() {
        const [shard = ''] = await streams.shardIds(streamArn);
        return (await streams.records(await streams.iterator(streamArn, shard, undefined))).records;
      },
      limited(options: Partial<Parameters<typeof retention>[0]> = {}) {
        const given = { maxBytes: Number.MAX_SAFE_INTEGER, consumed: () => 0, now: () => NOW, onFull: vi.fn() };
        const limit = retention({ data, endpoint, table: TableName, ...given, ...options });
        onTestFinished(limit.stop);
        return { pass: limit.pass, onFull: given.onFull };
      },
    };
  }
  const sequences = (records: Awaited<ReturnType<Awaited<ReturnType<typeof open>>['records']>>) =>
    records.map(({ dynamodb }) => Number(dynamodb?.SequenceNumber));

  it('loses the records of its stream that every function has read, and no sequence number is used twice', async () => {
    const { put, records, limited } = await open();
    for (const sk of ['a', 'b', 'c', 'd']) await put('EVENT#p', sk);
    let consumed = 0;
    const { pass } = limited({ consumed: () => consumed });
    const read = async () => {
      await pass();
      return sequences(await records());
    };
    expect(await read()).toEqual([1, 2, 3, 4]);
    consumed = 3;
    expect(await read()).toEqual([3, 4]); // an iterator can start after the third
    consumed = 4;
    expect(await read()).toEqual([4]);
    await put('EVENT#p', 'e');
    expect(await read()).toEqual([4, 5]);
  });

  it('loses the records of its stream after 24 hours', async () => {
    const { put, records, limited } = await open();
    for (const sk of ['a', 'b']) await put('EVENT#p', sk);
    let now = NOW + 23 * HOUR_MS;
    const { pass } = limited({ now: () => now });
    await pass();
    expect(await records()).toHaveLength(2);
    now += 2 * HOUR_MS;
    await pass();
    await put('EVENT#p', 'c');
    expect(sequences(await records()).at(-1)).toBe(3);
    expect(sequences(await records())).not.toContain(1);
  });

  it('loses the oldest items of its logs above the limit, in the order of their last writes, and nothing else', async () => {
    const { put, keys, records, limited } = await open();
    const old = [
      'DOCS#p d',
      'EVENT#p 1',
      'HOOK#p 1',
      'IDEMPOTENCY#p 1',
      'SYNC#p 1',
      'EVENTS#p x',
      'KEY#p k',
      'CHANGES#p c',
    ];
    const expires = { expires: { N: '9999999999' } };
    for (const key of old) await put(...(key.split(' ') as [string, string]), expires);
    for (const sk of ['2', '3']) await put('EVENT#p', sk, expires);
    await put('HOOK#p', '1', expires); // such as a retry
    const { pass, onFull } = limited({ maxBytes: 0, newest: 2 });
    await pass();
    const others = ['CHANGES#p c', 'DOCS#p d', 'EVENTS#p x', 'KEY#p k'];
    expect(await keys()).toEqual([...others, 'EVENT#p 3', 'HOOK#p 1'].sort());
    expect((await records()).filter(({ eventName }) => eventName === 'REMOVE')).toHaveLength(4);
    await pass();
    expect(onFull).toHaveBeenCalledTimes(1);
  });

  it('loses no item early below the limit', async () => {
    const { put, keys, limited } = await open();
    for (let i = 0; i < 10; i++) await put('EVENT#p', `${i}`, { expires: { N: `${Math.ceil(NOW / 1000) + 10}` } });
    const { pass, onFull } = limited({ newest: 0 });
    await pass();
    expect(await keys()).toHaveLength(10);
    expect(onFull).not.toHaveBeenCalled();
  });

  it('is read in the order of the last writes, page by page', async () => {
    const { put, oldest } = await open();
    for (const sk of ['c', 'a', 'b', 'a']) await put('EVENT#p', sk);
    const first = oldest({ after: 0, newest: 0, limit: 2 });
    const rest = oldest({ after: first.at(-1)?.place ?? 0, newest: 0, limit: 2 });
    const sks = [first, rest].map((page) => page.map(({ sk }) => sk));
    expect(sks).toEqual([['c', 'b'], ['a']]);
  });

  it('uses the space of deleted data again', async () => {
    const { put, keys, bytes, limited } = await open();
    const text = { text: { S: 'x'.repeat(50_000) }, expires: { N: '9999999999' } };
    const { pass } = limited({ maxBytes: 500_000, newest: 1, consumed: () => Number.MAX_SAFE_INTEGER });
    for (let i = 0; i < 40; i++) {
      await put('EVENT#p', `${i}`, text);
      await pass();
    }
    expect(bytes()).toBeLessThan(1_000_000); // of 4 MB with the stream
    for (let i = 0; i < 3; i++) await put('EVENT#p', `small ${i}`, { expires: text.expires });
    await pass();
    await pass();
    expect(await keys()).toContain('EVENT#p small 0');
  });

  it('loses expired items within about an hour, of every kind', async () => {
    const { put, keys, limited } = await open();
    const at = (ms: number) => ({ expires: { N: `${Math.ceil(ms / 1000)}` } });
    await put('SLOTS#w', 'expired', at(NOW + HOUR_MS / 2));
    await put('SLOTS#w', 'later', at(NOW + 3 * HOUR_MS));
    await put('PROJECT#p', 'PROJECT');
    let now = NOW;
    const { pass } = limited({ now: () => now });
    now += HOUR_MS;
    await pass();
    expect(await keys()).toEqual(['PROJECT#p PROJECT', 'SLOTS#w later']);
  });
});

describe('the position of all consumers', () => {
  const mapping = (FunctionName: string, EventSourceArn: string) => ({ FunctionName, EventSourceArn });
  const mappings = new Map([
    ['a', mapping('FanOut', 'arn:aws:dynamodb:::table/t/stream/1')],
    ['b', mapping('Stats', 'arn:aws:dynamodb:::table/t/stream/1')],
    ['c', mapping('Deliver', 'arn:aws:sqs:::queue')],
  ]);

  it.each([
    [{ 'FanOut shard': '12', 'Stats shard': '000000009' }, 9],
    [{ 'FanOut shard': '12', 'FanOutOther shard': '1', 'Stats shard': '40' }, 12],
    [{ 'FanOut shard': '12' }, 0],
  ])('of %j is %i', (positions, expected) => {
    expect(consumedPosition({ mappings, streamPositions: new Map(Object.entries(positions)) })).toBe(expected);
  });
});
