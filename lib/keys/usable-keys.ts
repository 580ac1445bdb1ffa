import type { KeyType } from '../credentials.ts';
import type { KeyRecord } from './key.ts';

/** The maximum number of keys of a project that are neither revoked nor expired. */
export const MAX_USABLE_KEYS = 1000;

/** The type of a key without an expiry, or when the key expires, in milliseconds since 1970. */
export type UsableKey = KeyType | number;

/**
 * The keys of a project that can be usable, by id. A transaction that creates, rotates or revokes a key changes them too, so no
 * race exceeds the limit. A key that expires keeps its entry until its place is needed.
 */
export type UsableKeys = Readonly<Record<string, UsableKey>>;

export const usableKey = ({ type, expiresAt }: Pick<KeyRecord, 'type' | 'expiresAt'>): UsableKey => expiresAt ?? type;

const hasExpired = (key: UsableKey, nowMs: number): boolean => typeof key === 'number' && key <= nowMs;

/** The keys whose places are free. */
export const expiredKeys = (keys: UsableKeys, nowMs: number): string[] =>
  Object.keys(keys).filter((id) => hasExpired(keys[id] as UsableKey, nowMs));

export const countUsable = (keys: UsableKeys, nowMs: number): number =>
  Object.keys(keys).length - expiredKeys(keys, nowMs).length;

/** The ids of admin keys without an expiry, newest first. */
export const lastingAdminIds = (keys: UsableKeys): string[] =>
  Object.keys(keys)
    .filter((id) => keys[id] === 'admin')
    .sort()
    .reverse();
