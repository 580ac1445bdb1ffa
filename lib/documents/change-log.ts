import { ID_ALPHABET } from '../id-time.ts';
import { bucketOf, toDigits } from '../ids.ts';
import type { KeyRange } from './patterns.ts';

/*
 * The log has one entry for each write of a document, in the order of time. A cycle with a checkpoint reads the entries since then,
 * which costs the same for any number of documents. A function dates an entry before it commits the transaction, so a cycle can
 * read the log before an entry with an earlier time appears. The next cycle therefore starts `OVERLAP_MS` before the checkpoint.
 */

/**
 * An entry appears at most this long after its time. No function runs longer than 30 seconds, and the rest is for the difference
 * between the clocks of two functions.
 */
export const OVERLAP_MS = 60_000;

const DAY_MS = 24 * 60 * 60 * 1000;
/** How long entries stay in the log. */
export const LOGGED_MS = 8 * DAY_MS;
/** How old the first entry of a cycle can be. Earlier ones are found by their revisions. The rest is for a cycle that takes long. */
export const READABLE_MS = 7 * DAY_MS;

/** The partitions of the log of a space. Together they accept 2,000 transactional writes per second (DynamoDB quotas). */
const PARTITIONS = 4;
const TIME_LENGTH = 10;

/** A place in the log: the partition, the time and the document key. Places sort in the order in which a cycle reads them. */
export const placeOf = (documentKey: string, atMs: number): string =>
  `${ID_ALPHABET[bucketOf(documentKey, PARTITIONS)]}${toDigits(atMs, TIME_LENGTH)}#${documentKey}`;

/** The two parts of a place that are the keys of its item. */
export const partsOf = (place: string): { partition: string; entry: string } => ({
  partition: place.slice(0, 1),
  entry: place.slice(1),
});

export const documentAt = (place: string): string => place.slice(1 + TIME_LENGTH + '#'.length);

/** The partitions of the log of a space. */
export const changePartitions = (): string[] => [...ID_ALPHABET.slice(0, PARTITIONS)];

/** The places of all entries at `sinceMs` or later. */
export const placesSince = (sinceMs: number): KeyRange[] =>
  Array.from({ length: PARTITIONS }, (_, i) => ({
    first: `${ID_ALPHABET[i]}${toDigits(sinceMs, TIME_LENGTH)}`,
    last: `${ID_ALPHABET[i]}~`,
  }));
