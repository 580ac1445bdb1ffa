import { hash, timingSafeEqual } from 'node:crypto';
import { crc32 } from 'node:zlib';
import type { Random } from '../ids.ts';
import type { Environment } from '../space.ts';
import { encodeBase62, KEY_FORMAT, randomBase62 } from './key-parts.ts';

export const KEY_TYPES = ['live', 'test', 'read', 'admin'] as const;
export type KeyType = (typeof KEY_TYPES)[number];

/** A key in the form of `KEY_FORMAT`. */
export interface ApiKey {
  type: KeyType;
  /** `key_` + the 12 characters of the id. */
  id: string;
  /** The whole key: a secret. */
  key: string;
}

export const KEY_ID = /^key_[0-9A-Za-z]{12}$/;

/** A new key: its id sorts by creation time, its secret has 190 random bits. */
export function newApiKey(type: KeyType, nowMs: number, random: Random): ApiKey {
  const id = encodeBase62(nowMs, 7) + randomBase62(5, random);
  const unchecked = `svc_${type}_${id}${randomBase62(32, random)}`;
  return { type, id: `key_${id}`, key: unchecked + checksum(unchecked) };
}

/** Parses a key. Returns `null` for a wrong prefix, length, alphabet or checksum. Does not read the table. */
export function parseApiKey(text: string): ApiKey | null {
  const [, type, id] = KEY_FORMAT.exec(text) ?? [];
  if (!type || text.slice(-6) !== checksum(text.slice(0, -6))) return null;
  return { type: type as KeyType, id: `key_${id}`, key: text };
}

/** The key id in a path segment, which is an id or a complete key. `null` if it is neither. */
export function keyIdOf(text: string): string | null {
  return KEY_ID.test(text) ? text : (parseApiKey(text)?.id ?? null);
}

/** The hexadecimal SHA-256 of a key. The service stores only this hash. */
export function hashApiKey(key: string): string {
  return hash('sha256', key);
}

/** Compares hashes of equal length in constant time. */
export function sameHash(a: string, b: string): boolean {
  return a.length === b.length && timingSafeEqual(Buffer.from(a), Buffer.from(b));
}

function checksum(text: string): string {
  return encodeBase62(crc32(text), 6);
}

/** The environment of a key. Requests with an admin key name theirs. */
export function environmentOf(type: KeyType): Environment | null {
  if (type === 'admin') return null;
  return type === 'test' ? 'sandbox' : 'live';
}
