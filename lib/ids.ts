import { hash } from 'node:crypto';
import * as v from 'valibot';
import { ID_ALPHABET, TIME_LENGTH } from './id-time.ts';

/** Prefixes of the resource ids (opaque to clients). */
export type IdPrefix = 'prj' | 'whk' | 'evt' | 'con' | 'syn' | 'tok' | 'aud' | 'rec';

/** A source of randomness, which returns that many unpredictable bytes. */
export type Random = (bytes: number) => Uint8Array;

const RANDOM_LENGTH = 16;
/** The part after the prefix, as a regular expression. */
export const SORTABLE = `[${ID_ALPHABET}]{${TIME_LENGTH + RANDOM_LENGTH}}`;

/**
 * `<prefix>_` + 48 bits of time and 80 random bits, in the form of a ULID. It sorts by creation time, to the millisecond. `tag`
 * uses the alphabet of ids and replaces as many random characters.
 */
export function sortableId(prefix: IdPrefix, atMs: number, random: Random, tag = ''): string {
  return earliestId(prefix, atMs) + tag + randomDigits(random, RANDOM_LENGTH - tag.length);
}

/** Random characters of the alphabet of ids. */
export const randomDigits = (random: Random, length: number): string =>
  Array.from(random(length), (byte) => ID_ALPHABET[byte & 31]).join('');

/** The first characters after the time of an id: its tag, if it has one of that length. */
export function idTag(id: string, length: number): string {
  const start = id.indexOf('_') + 1 + TIME_LENGTH;
  return id.slice(start, start + length);
}

/** A number in the alphabet of ids, with leading zeros. `fromDigits` reads it. */
export function toDigits(value: number, length: number): string {
  let digits = '';
  for (let rest = value, i = 0; i < length; i++, rest = Math.floor(rest / 32)) digits = ID_ALPHABET[rest % 32] + digits;
  return digits;
}

/** The form of the ids of a prefix. */
export const idOf = (prefix: IdPrefix) =>
  v.pipe(v.string('must be a string'), v.regex(new RegExp(`^${prefix}_${SORTABLE}$`)));

/**
 * Derives the same bytes from the same `name`, which are as hard to guess as `name`. Used for resources that a repeated request
 * creates again.
 */
export const derivedFrom =
  (name: string): Random =>
  (bytes) =>
    hash('sha256', name, 'buffer').subarray(0, bytes);

/** Maps a text to a number from 0 to `buckets` - 1. The same text always gets the same number, and texts are spread evenly. */
export const bucketOf = (text: string, buckets: number): number =>
  Number.parseInt(hash('sha256', text).slice(0, 8), 16) % buckets;

/** Sorts before or with every id of that millisecond, and after every id of an earlier one. Times before 1970 count as 1970. */
export const earliestId = (prefix: IdPrefix, atMs: number): string =>
  `${prefix}_${toDigits(Math.max(0, atMs), TIME_LENGTH)}`;
