import { hash, timingSafeEqual } from 'node:crypto';
import { crc32 } from 'node:zlib';
import type { KeyType } from '../credentials.ts';
import type { Random } from '../ids.ts';
import { encodeBase62, KEY_FORMAT, randomBase62 } from './key-format.ts';

/** `key_` + the 12 characters of the id in a key. */
export const KEY_ID = /^key_[0-9A-Za-z]{12}$/;

/** A new key: its id sorts by creation time, its secret has 190 random bits. `key` is a secret too. */
export function newApiKey(type: KeyType, nowMs: number, random: Random): { id: string; key: string } {
  const id = encodeBase62(nowMs, 7) + randomBase62(5, random);
  const unchecked = `svc_${type}_${id}${randomBase62(32, random)}`;
  return { id: `key_${id}`, key: unchecked + checksum(unchecked) };
}

/** The id in a key. Returns `null` for a wrong prefix, length, alphabet or checksum. Does not read the table. */
export function parseApiKey(text: string): string | null {
  const [, , id] = KEY_FORMAT.exec(text) ?? [];
  return id && text.slice(-6) === checksum(text.slice(0, -6)) ? `key_${id}` : null;
}

/** The key id in a path segment, which is an id or a complete key. `null` if it is neither. */
export function keyIdOf(text: string): string | null {
  return KEY_ID.test(text) ? text : parseApiKey(text);
}

/** The hexadecimal SHA-256 of a key. The service stores only this hash. */
export function hashApiKey(key: string): string {
  return hash('sha256', key);
}

/** Compares texts of equal length in constant time. */
export function sameText(a: string, b: string): boolean {
  const [first, second] = [Buffer.from(a), Buffer.from(b)];
  return first.length === second.length && timingSafeEqual(first, second);
}

function checksum(text: string): string {
  return encodeBase62(crc32(text), 6);
}
