import { setImmediate as turn } from 'node:timers/promises';
import { TransactWriteItemsCommand } from '@aws-sdk/client-dynamodb';
import type { ItemKind } from '../../lib/deployment.ts';
import { type DataFile, type PlacedItem, STREAM_SECONDS } from './services/data-file.ts';
import { dynamoDbClient } from './services/table.ts';
import type { LocalStack } from './stack.ts';

/** The kinds of items that every event, delivery, keyed request and sync cycle adds, and that expire. */
const LOGS: ReadonlySet<string> = new Set<ItemKind>(['EVENT', 'HOOK', 'IDEMPOTENCY', 'SYNC']);
const isLog = ({ pk }: PlacedItem): boolean => LOGS.has(pk.slice(0, pk.indexOf('#')));

/** The items that are never deleted early, so that data without an expiry does not displace every event. */
const NEWEST = 10_000;
/** The items of one pass above the limit, so that the deletion of more data than a stack can store takes no longer than storing it. */
const DELETED_TOGETHER = 5_000;
const READ_TOGETHER = 1_000;
const TRANSACTION = 100;

/** How often expired items are deleted. DynamoDB needs up to a few days. */
const EXPIRY_MS = 60 * 60 * 1000;

const PASS_MS = 5_000;

export interface LimitOptions {
  stack: Pick<LocalStack, 'mappings' | 'streamPositions' | 'tableName' | 'clock'>;
  data: DataFile;
  /** The endpoint of the database. */
  endpoint: string;
  maxMb: number;
  say(text: string): void;
}

/** Limits the data of a running stack until the process ends. */
export function limitData({ stack, data, endpoint, maxMb, say }: LimitOptions): void {
  const { pass } = retention({
    data,
    endpoint,
    table: stack.tableName,
    maxBytes: maxMb * 1024 * 1024,
    consumed: () => consumedPosition(stack),
    now: () => stack.clock.now(),
    onFull: () =>
      say(`\nThe database has ${maxMb} MB, so the oldest events are deleted. --max-database-mb N keeps more.`),
  });
  let isRunning = false;
  setInterval(async () => {
    if (isRunning) return;
    isRunning = true;
    await pass().catch(() => {}); // the database is busy, and the next pass does the rest
    isRunning = false;
  }, PASS_MS);
}

/** The sequence number up to which every consumer has read the stream, which has one shard. */
export function consumedPosition({
  mappings,
  streamPositions,
}: Pick<LocalStack, 'mappings' | 'streamPositions'>): number {
  const consumers = [...mappings.values()].filter(({ EventSourceArn }) => EventSourceArn.includes('/stream/'));
  const positions = consumers.map(({ FunctionName }) => {
    const [, position] = [...streamPositions].find(([place]) => place.startsWith(`${FunctionName} `)) ?? [];
    return Number(position ?? 0);
  });
  return Math.min(...positions);
}

export interface RetentionOptions {
  data: DataFile;
  /** The endpoint of the database. */
  endpoint: string;
  table: string;
  maxBytes: number;
  newest?: number;
  /** The sequence number up to which every consumer has read the stream. */
  consumed(): number;
  now(): number;
  /** Called before the first early deletion. */
  onFull(): void;
}

/**
 * Returns a pass that keeps the data of a running stack small. It deletes what DynamoDB deletes, expired items and records of the
 * stream after 24 hours. Of records, it also deletes those that no function will read. Above `maxBytes`, it deletes the oldest items
 * of the logs as if they had expired. The order is that of their last writes.
 */
export function retention(options: RetentionOptions) {
  const { data, endpoint, table, maxBytes, newest = NEWEST, consumed, now, onFull } = options;
  const client = dynamoDbClient(endpoint);
  let expiryAt = now() + EXPIRY_MS;
  let isFull = false;

  return {
    async pass(): Promise<void> {
      const seconds = Math.floor(now() / 1000);
      data.removeRecords(table, { sequence: consumed(), at: seconds - STREAM_SECONDS });
      if (now() >= expiryAt) {
        await remove(({ expires }) => expires !== null && expires < seconds, { newest: 0 });
        expiryAt = now() + EXPIRY_MS;
      }
      if (data.bytes() <= maxBytes) return;
      if (!isFull) onFull();
      isFull = true;
      await remove(isLog, { newest, most: DELETED_TOGETHER });
    },
    stop: () => client.destroy(),
  };

  async function remove(isGone: (item: PlacedItem) => boolean, { newest = 0, most = Number.POSITIVE_INFINITY }) {
    let after = 0;
    for (let removed = 0; removed < most; ) {
      const items = data.oldestItems(table, { after, newest, limit: READ_TOGETHER });
      const gone = items.filter(isGone);
      await removeItems(gone);
      removed += gone.length;
      const last = items.at(-1);
      if (!last) return;
      after = last.place;
      await turn(); // requests do not wait for a large table
    }
  }

  /** The stream receives the deletions, as from DynamoDB. */
  async function removeItems(items: readonly PlacedItem[]): Promise<void> {
    for (let i = 0; i < items.length; i += TRANSACTION) {
      const keys = items.slice(i, i + TRANSACTION).map(({ pk, sk }) => ({ pk: { S: pk }, sk: { S: sk } }));
      const TransactItems = keys.map((Key) => ({ Delete: { TableName: table, Key } }));
      await client.send(new TransactWriteItemsCommand({ TransactItems }));
    }
  }
}
