// The browser imports this file too, so it must stay small.

import type { Random } from '../ids.ts';

/** `svc_<type>_` + 12 (id) + 32 (secret) + 6 (checksum) base62 characters. Captures the type and the id. */
export const KEY_FORMAT = /^svc_(live|test|read|admin)_([0-9A-Za-z]{12})[0-9A-Za-z]{38}$/;

// In ASCII order, so that numbers of equal length sort like their texts.
const ALPHABET = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';

/** A non-negative integer below 62^length, padded with `0` to exactly `length` characters. */
export function encodeBase62(value: number, length: number): string {
  let text = '';
  for (let rest = value; text.length < length; rest = Math.floor(rest / 62)) text = ALPHABET[rest % 62] + text;
  return text;
}

/** Draws `length` characters with equal probability. Discards bytes that would favor some characters. */
export function randomBase62(length: number, random: Random): string {
  let text = '';
  while (text.length < length) {
    for (const byte of random(length * 2)) {
      if (byte < 248 && text.length < length) text += ALPHABET[byte % 62];
    }
  }
  return text;
}
