import http from 'node:http';
import { text } from 'node:stream/consumers';
import type { DynamoDBRecord } from 'aws-lambda';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { LocalClock } from '../../../infra/local/lambda/clock.ts';
import type { MappingProperties } from '../../../infra/local/lambda/event-sources.ts';
import { streamConsumer } from '../../../infra/local/lambda/stream-consumer.ts';
import { StreamPoller } from '../../../infra/local/lambda/stream-poller.ts';
import { startMemoryDatabase } from '../../../infra/local/memory/server.ts';
import { Signal } from '../../../infra/local/services/signal.ts';
import { TABLE } from '../../support/dynamodb-table.ts';
import { listen } from '../../support/endpoints.ts';
import { startProxy } from '../../support/proxy.ts';
import { eventually, request } from '../../support/service.ts';

interface Batch {
  Records: { eventName: string; dynamodb: { SequenceNumber: string; ApproximateCreationDateTime: number } }[];
}

const NOW = 1_800_000_000_000;

const record = (
  SequenceNumber: string,
  ageSeconds = 0,
  eventName: DynamoDBRecord['eventName'] = 'INSERT',
): DynamoDBRecord => ({
  eventName,
  dynamodb: { SequenceNumber, ApproximateCreationDateTime: NOW / 1000 - ageSeconds },
});

function createConsumer(invoke: (ids: string[], tries: number) => unknown, mapping: Partial<MappingProperties> = {}) {
  const batches: string[][] = [];
  const events: Batch[] = [];
  const destination = new Map<string, string>();
  const stopping = new AbortController();
  const consumer = streamConsumer({
    fn: {
      async invoke(event) {
        const ids = (event as Batch).Records.map(({ dynamodb }) => dynamodb.SequenceNumber);
        batches.push(ids);
        events.push(event as Batch);
        return invoke(ids, batches.length);
      },
    },
    mapping: { EventSourceArn: 'stream', FunctionName: 'fn', ...mapping },
    destination,
    retrySpeed: 10_000,
    now: () => NOW,
    signal: stopping.signal,
  });
  const consume = (records: DynamoDBRecord[]) => consumer(records, 'shard-1');
  const discarded = () => [...destination.values()].map((body) => JSON.parse(body));
  return { consume, batches, events, discarded, stop: () => stopping.abort() };
}

const fail = () => {
  throw new Error('no');
};

describe('the poller of a stream', () => {
  it('passes records in order in the format of Lambda', async () => {
    const { consume, batches, events } = createConsumer(() => null, { BatchSize: 2 });
    await consume([record('1'), record('2', 90), record('3')]);
    expect(batches).toEqual([['1', '2'], ['3']]);
    expect(events[0]?.Records[1]?.dynamodb.ApproximateCreationDateTime).toBe(NOW / 1000 - 90);
  });

  it('ends a batch before its event exceeds 6 MB', async () => {
    const { consume, batches, events } = createConsumer(() => null);
    const large = (id: string): DynamoDBRecord => ({
      ...record(id),
      dynamodb: { ...record(id).dynamodb, NewImage: { text: { S: 'x'.repeat(400_000) } } },
    });
    await consume(Array.from({ length: 32 }, (_, i) => large(`${i}`)));
    expect(batches.map(({ length }) => length)).toEqual([15, 15, 2]);
    for (const event of events) expect(Buffer.byteLength(JSON.stringify(event))).toBeLessThanOrEqual(6_291_456);
  });

  it.each([
    ['values', '{"eventName":["INSERT"]}', ['1', '21']],
    ['prefixes', '{"dynamodb":{"SequenceNumber":[{"prefix":"1"}]}}', ['1', '12']],
  ])('omits records that the filters do not match, by %s', async (_, Pattern, matching) => {
    const { consume, batches } = createConsumer(() => null, { FilterCriteria: { Filters: [{ Pattern }] } });
    await consume([record('1'), record('21'), record('12', 0, 'MODIFY')]);
    expect(batches).toEqual([matching]);
  });

  it('continues from the first failed record', async () => {
    const { consume, batches } = createConsumer(
      (_ids, tries) => (tries === 1 ? { batchItemFailures: [{ itemIdentifier: '2' }] } : null),
      { FunctionResponseTypes: ['ReportBatchItemFailures'] },
    );
    await consume([record('1'), record('2'), record('3')]);
    expect(batches).toEqual([
      ['1', '2', '3'],
      ['2', '3'],
    ]);
  });

  it('retries without a limit', async () => {
    const mapping = { MaximumRecordAgeInSeconds: -1 };
    const { consume, batches, discarded } = createConsumer((_ids, tries) => (tries <= 100 ? fail() : null), mapping);
    await consume([record('1', 90_000)]);
    expect(batches).toHaveLength(101);
    expect(discarded()).toEqual([]);
  });

  it.each([
    ['fails', {}, 1],
    ['waits for an enabled mapping', { Enabled: false }, 0],
  ])('ends a batch that %s when the poller stops', async (_, mapping, tries) => {
    const { consume, batches, stop } = createConsumer(() => {
      stop();
      fail();
    }, mapping);
    const consumed = consume([record('1')]);
    if (tries === 0) stop();
    await expect(consumed).rejects.toThrow('aborted');
    expect(batches).toHaveLength(tries);
  });

  it('discards records that are too old by the clock of the stack, without a try, and continues', async () => {
    const { consume, batches, events, discarded } = createConsumer(() => null, { MaximumRecordAgeInSeconds: 60 });
    await consume([record('1', 62), record('2', 61), record('3', 60), record('4')]);
    expect(batches).toEqual([['3', '4']]);
    expect(discarded()).toMatchObject([
      {
        requestContext: { condition: 'RecordAgeExceeded', approximateInvokeCount: 0 },
        DDBStreamBatchInfo: { startSequenceNumber: '1', endSequenceNumber: '2', batchSize: 2, streamArn: 'stream' },
      },
    ]);
    const { Records } = JSON.parse(discarded()[0].payload);
    expect(Records).toEqual([record('1', 62), record('2', 61)].map((each) => expect.objectContaining(each)));
    expect(Object.keys(Records[0])).toEqual(Object.keys(events[0]?.Records[0] ?? {}));
  });

  it('passes the shard of a batch until the response has a state, with a tumbling window', async () => {
    const responses = [null, { batchItemFailures: [] }, { state: {} }];
    const { consume, events } = createConsumer((_, tries) => responses[tries - 1], { TumblingWindowInSeconds: 60 });
    await consume([record('1', 90)]);
    expect(events).toMatchObject(Array(3).fill({ shardId: 'shard-1' }));
  });

  it('passes records again if it stopped while they were processed, or if the stream no longer has its position', async () => {
    const { endpoint, stop } = await startMemoryDatabase();
    onTestFinished(stop);
    const call = async (operation: string, input: object) => {
      const headers = { 'X-Amz-Target': `DynamoDB_20120810.${operation}` };
      return (await request(endpoint, 'POST', '', { body: { TableName: 'table', ...input }, headers })).body;
    };
    const created = await call('CreateTable', { ...TABLE, StreamSpecification: { StreamEnabled: true } });
    const arn = created.TableDescription.LatestStreamArn;
    const writes = new Signal();
    const kept = { endpoint, arn, positions: new Map<string, string>(), consumer: 'fn', writes };
    const passedAfter = async (pk: string, processing: Promise<void>) => {
      await call('PutItem', { Item: { pk: { S: pk }, sk: { S: 'ITEM' } } });
      const { promise, resolve } = Promise.withResolvers<DynamoDBRecord[]>();
      const consume = (records: DynamoDBRecord[]) => {
        resolve(records);
        return processing;
      };
      const options = { ...kept, consume, windowMs: 0, batchSize: 100, clock: new LocalClock() };
      const poller = new StreamPoller(options);
      await poller.start();
      const records = await promise;
      poller.stop();
      return records.map(({ dynamodb }) => dynamodb?.Keys?.pk?.S);
    };
    expect(await passedAfter('a', new Promise(() => {}))).toEqual(['a']);
    expect(await passedAfter('b', Promise.resolve())).toEqual(['a', 'b']);
    expect(await passedAfter('c', Promise.resolve())).toEqual(['c']);
    let tries = 0;
    kept.endpoint = await startProxy(endpoint, {
      response(response, { body }) {
        if (!body.includes('AFTER_SEQUENCE_NUMBER') || tries++ > 0) return;
        Object.assign(response, { status: 400, body: Buffer.from('{"__type":"a#TrimmedDataAccessException"}') });
        writes.give(); // the poller reads again
      },
    });
    expect(await passedAfter('d', Promise.resolve())).toEqual(['a', 'b', 'c', 'd']);
  });

  it('reads every shard once, also a new one, a closed one and one whose iterator has expired', async () => {
    vi.useFakeTimers({ toFake: ['setInterval'] });
    onTestFinished(() => void vi.useRealTimers());
    const shards = ['a'];
    const [asked, consumed]: [string[], string[]] = [[], []];
    const writes = new Signal();
    const server = http.createServer(async (incoming, response) => {
      const { ShardId, ShardIterator } = JSON.parse(await text(incoming));
      const operation = String(incoming.headers['x-amz-target']).split('.')[1];
      if (operation === 'GetShardIterator') asked.push(ShardId);
      const isExpired = operation === 'GetRecords' && asked.length === 1;
      response.statusCode = isExpired ? 400 : 200;
      const StreamDescription = { Shards: shards.map((each) => ({ ShardId: each })) };
      const output = { StreamDescription, ShardIterator: ShardId, Records: [record(ShardIterator)] };
      response.end(JSON.stringify(isExpired ? { __type: 'a#ExpiredIteratorException' } : output));
      if (isExpired) writes.give(); // the poller reads again
    });
    const endpoint = `http://127.0.0.1:${await listen(server)}`;
    const consume = async (_: DynamoDBRecord[], shardId: string) => void consumed.push(shardId);
    const options = { endpoint, arn: 'stream', positions: new Map(), consumer: 'fn', writes, consume };
    const poller = new StreamPoller({ ...options, windowMs: 100, batchSize: 100, clock: new LocalClock() });
    await poller.start();
    await eventually(() => consumed.includes('a'));
    shards.push('b');
    vi.advanceTimersByTime(10_000);
    await eventually(() => consumed.includes('b'));
    poller.stop();
    expect([asked, consumed]).toEqual([
      ['a', 'a', 'b'],
      ['a', 'b'],
    ]);
  });
});
