import { UnavailableError } from '../errors.ts';
import { type Item, type ItemKey, keyOf } from './items.ts';
import type { Pause } from './writes.ts';

/** Keys of one BatchGetItem (DynamoDB quotas). */
const MAX_KEYS = 100;

/** Requests for one batch. Keys that a hot partition leaves unprocessed are requested again, for about two seconds. */
const MAX_TRIES = 6;

/** The outcome for a key: the item, `undefined` without an item, or the error if its partition is throttled. */
export type Read = Item | undefined | UnavailableError;

/** Sends one BatchGetItem, and throws an `UnavailableError` if DynamoDB reads none of the keys. */
type ReadSome = (keys: ItemKey[]) => Promise<{ items: Item[]; unprocessed: ItemKey[] }>;

const textOf = ({ pk, sk }: ItemKey): string => `${pk}\n${sk}`;

/** Reads the items of keys, which can repeat. A throttled partition affects only its own keys. */
export async function batchGetEach(keys: readonly ItemKey[], readSome: ReadSome, pause: Pause): Promise<Read[]> {
  const distinct = [...new Map(keys.map((key) => [textOf(key), key])).values()];
  const parts = Array.from({ length: Math.ceil(distinct.length / MAX_KEYS) }, (_, i) =>
    getPart(distinct.slice(i * MAX_KEYS, (i + 1) * MAX_KEYS), readSome, pause),
  );
  const reads = new Map((await Promise.all(parts)).flat());
  return keys.map((key) => reads.get(textOf(key)));
}

async function getPart(keys: ItemKey[], readSome: ReadSome, pause: Pause): Promise<[key: string, Read][]> {
  const read: [string, Read][] = [];
  let remaining = keys;
  for (let tries = 0; remaining.length > 0 && tries < MAX_TRIES; tries++) {
    if (tries > 0) await pause(tries);
    const response = await readSome(remaining).catch((error: unknown) => {
      // After the first request, only keys of throttled partitions remain.
      if (tries === 0 || !(error instanceof UnavailableError)) throw error;
      return { items: [], unprocessed: remaining };
    });
    for (const item of response.items) read.push([textOf(keyOf(item)), item]);
    remaining = response.unprocessed;
  }
  const unread = new UnavailableError(new Error('DynamoDB leaves keys of a batch unread'));
  for (const key of remaining) read.push([textOf(key), unread]);
  return read;
}

/** Throws the error of a key that was not read. */
export function requireRead(read: Read): Item | undefined {
  if (read instanceof UnavailableError) throw read;
  return read;
}
