/** Prefixes of the resource ids (opaque to clients). */
export type IdPrefix = 'prj' | 'whk' | 'evt' | 'con' | 'syn' | 'tok';

/** Randomness as an argument: returns that many unpredictable bytes. */
export type Random = (bytes: number) => Uint8Array;

// Crockford's base32: its characters are in ASCII order, so ids sort as their times do.
const ALPHABET = '0123456789ABCDEFGHJKMNPQRSTVWXYZ';
const TIME_LENGTH = 10;
const RANDOM_LENGTH = 16;

/** `<prefix>_` + 48 bits of time and 80 random bits, in the form of a ULID: sorts by creation, to the millisecond. */
export function sortableId(prefix: IdPrefix, atMs: number, random: Random): string {
  const suffix = Array.from(random(RANDOM_LENGTH), (byte) => ALPHABET[byte & 31]).join('');
  return earliestId(prefix, atMs) + suffix;
}

/** Sorts before or with every id of that millisecond, and after every id of an earlier one. */
export function earliestId(prefix: IdPrefix, atMs: number): string {
  let time = '';
  for (let rest = atMs, i = 0; i < TIME_LENGTH; i++, rest = Math.floor(rest / 32)) {
    time = ALPHABET[rest % 32] + time;
  }
  return `${prefix}_${time}`;
}
