import { text } from './schema.ts';
import type { Environment } from './space.ts';

/** The types of API keys. */
export const KEY_TYPES = ['live', 'test', 'read', 'admin'] as const;
export type KeyType = (typeof KEY_TYPES)[number];

/** What a scoped token allows. */
export const PERMISSIONS = ['read', 'write'] as const;
export type Permission = (typeof PERMISSIONS)[number];

/** What a dashboard link allows. */
export const ROLES = ['viewer', 'editor'] as const;
export type Role = (typeof ROLES)[number];

/** The user of a scoped token or a dashboard link: a person or a device of the customer, in the customer's terms. */
export const User = text(1, 128);

/** The environment of a key. Requests with an admin key name theirs. */
export function environmentOf(type: KeyType): Environment | null {
  if (type === 'admin') return null;
  return type === 'test' ? 'sandbox' : 'live';
}
