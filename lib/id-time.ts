// The browser imports this file too, so it must stay small.

/** Crockford's base32, whose characters are in ASCII order, so ids sort by time. */
export const ID_ALPHABET = '0123456789ABCDEFGHJKMNPQRSTVWXYZ';
/** The characters of an id that contain its time. */
export const TIME_LENGTH = 10;

/** When an id was created, in milliseconds since 1970. */
export function timeOf(id: string): number {
  return fromDigits(id.slice(id.indexOf('_') + 1).slice(0, TIME_LENGTH));
}

/** The number that `toDigits` wrote. */
export const fromDigits = (digits: string): number =>
  Array.from(digits).reduce((value, digit) => value * 32 + ID_ALPHABET.indexOf(digit), 0);
