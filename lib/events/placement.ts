import { isDocumentKey } from '../documents/patterns.ts';
import { ID_ALPHABET } from '../id-time.ts';
import { bucketOf, idTag, type Random, sortableId, toDigits } from '../ids.ts';
import type { EventType } from './types.ts';

/**
 * The partitions of the events of one type in one space. Together they support 12,000 writes of 1 KB per second (DynamoDB
 * quotas).
 */
export const EVENT_PARTITIONS = 12;

/**
 * Ids of stored events contain these digits (base 32), so a digit never changes. A new type gets a digit that no type has had. The
 * events of one write of a document have the same place, so the digits also order them: a conflict follows its change.
 */
const DIGITS: Readonly<Record<EventType, string>> = {
  'document.created': '0',
  'document.changed': '1',
  'document.deleted': '2',
  'sync.conflict': '3',
  'sync.completed': '4',
  'connection.lost': '5',
};

/**
 * Where the events of a space are stored: a partition for each type and twelfth of the document keys. The id of an event names
 * its partition, so that it can be read without an index, and listed by type and document without reading all the others.
 */
type Partition = string;

/** Characters of the place of an event in its batch. */
const PLACE_LENGTH = 2;

/**
 * A new id for an event with these data. The id of an event:
 *
 *   evt_ ┬ time of acceptance, 10 characters
 *        │ place in the batch, 2
 *        │ partition, 2
 *        └ random, 12
 *
 * Ids sort by time, like every id, and in the order of publication within a batch, as monotonic ULIDs do. The events of a batch can be
 * in different partitions, so the place comes first.
 */
export function newEventId(type: EventType, data: object, atMs: number, random: Random, place = 0): string {
  const documentKey = documentKeyIn(data);
  const bucket =
    documentKey === undefined ? Number(random(1)[0]) % EVENT_PARTITIONS : bucketOf(documentKey, EVENT_PARTITIONS);
  return sortableId('evt', atMs, random, toDigits(place, PLACE_LENGTH) + partition(type, bucket));
}

/** The partition of an event. */
export const partitionOf = (eventId: string): Partition => idTag(eventId, PLACE_LENGTH + 2).slice(PLACE_LENGTH);

/** Every partition that can contain events of these types, or of one document. */
export function partitionsOf(types: readonly EventType[], documentKey: string | undefined): Partition[] {
  const all = Array.from({ length: EVENT_PARTITIONS }, (_, bucket) => bucket);
  const buckets = documentKey === undefined ? all : [bucketOf(documentKey, EVENT_PARTITIONS)];
  return types.flatMap((type) => buckets.map((bucket) => partition(type, bucket)));
}

/**
 * The document of an event, or `undefined`. In `sync.completed`, `document_key` is an additional member that can have any value, and only
 * a valid document key names a document.
 */
export function documentKeyIn(data: object): string | undefined {
  const { document_key: key } = data as { document_key?: unknown };
  return typeof key === 'string' && isDocumentKey(key) ? key : undefined;
}

const partition = (type: EventType, bucket: number): Partition => `${DIGITS[type]}${ID_ALPHABET[bucket]}`;
