import * as v from 'valibot';
import { KEY_TYPES, type KeyType } from '../credentials.ts';
import type { PathParameter } from '../http/path-parameter.ts';
import type { Random } from '../ids.ts';
import { isJsonObject } from '../json.ts';
import { optional } from '../optional.ts';
import {
  check,
  described,
  iso,
  isoOrNull,
  oneOf,
  request,
  resource,
  text,
  timestamp,
  timestampInput,
  type Violation,
} from '../schema.ts';
import { KEY_FORMAT } from './key-format.ts';
import { hashApiKey, KEY_ID, newApiKey, sameText } from './key-secret.ts';
import { type LastRejected, LastRejection, lastRejection } from './rejection.ts';
import { publicKeyOf } from './signing-key.ts';

export const KEY_STATUSES = ['active', 'expiring', 'expired', 'revoked'] as const;
export type KeyStatus = (typeof KEY_STATUSES)[number];

/** A stored key. Times are in milliseconds since 1970. */
export interface KeyRecord {
  id: string;
  projectId: string;
  type: KeyType;
  name: string | null;
  /** SHA-256 of the whole key, hex. */
  hash: string;
  /** The last four characters of the key. */
  hint: string;
  /** Canonical CIDRs. An empty list allows every address. */
  cidrs: string[];
  /** The key that signs the scoped tokens of this key derives from it: 32 random bytes, base64url. A secret. */
  tokenSecret: string;
  /** Verifies them. See `signing-key.ts`. */
  publicKey: string;
  createdAt: number;
  expiresAt?: number | undefined;
  revokedAt?: number | undefined;
  lastUsedAt?: number | undefined;
  /** In how many hours of a day the key was used: on the day of `lastUsedAt`, the day before that, and so on. */
  activeHours?: number[] | undefined;
  lastRejected?: LastRejected | undefined;
  /** Ids of the scoped tokens of this key that were revoked before they expired. */
  revokedTokens?: string[] | undefined;
  replaces?: string | undefined;
  replacedBy?: string | undefined;
}

const TYPE_MEANING = 'Determines the prefix, the environment and the operations that the key can call.';

/** A key in a path, as its id or as the key itself. */
const KeyReference = v.pipe(v.string('must be a string'), v.regex(new RegExp(`${KEY_ID.source}|${KEY_FORMAT.source}`)));

export const keyParameter: PathParameter = {
  resource: 'key',
  schema: KeyReference,
  description: 'The id of the key, or the key itself.',
  example: 'key_01Fkq2Xb9TzA',
};

export const CreateKey = request('CreateKey', {
  type: described(oneOf(KEY_TYPES), TYPE_MEANING),
  name: optional(described(text(1, 100), 'Optional name.')),
  expires_at: optional(described(timestampInput, 'When the key stops working. Without it, the key does not expire.')),
});

export const ChangeKey = request('ChangeKey', {
  name: described(v.nullable(text(1, 100)), 'The new name; `null` removes it.'),
});

export const KeyResource = resource('Key', {
  id: described(v.string(), 'Identifies the key, for example in paths.'),
  type: described(v.picklist(KEY_TYPES), TYPE_MEANING),
  name: described(v.nullable(v.string()), 'Optional name.'),
  hint: described(v.string(), 'The last 4 characters of the key.'),
  status: described(
    v.picklist(KEY_STATUSES),
    '`active`, `expiring` (works until `expires_at`), `expired` or `revoked`.',
  ),
  cidrs: described(v.array(v.string()), 'The allowlist in canonical form. An empty list means no restriction.'),
  created_at: described(timestamp, 'When the key was created.'),
  last_used_at: described(v.nullable(timestamp), 'When the key was last used, to the hour.'),
  last_rejected: LastRejection,
  expires_at: described(v.nullable(timestamp), 'When the key stops working.'),
  revoked_at: described(v.nullable(timestamp), 'When the key was revoked.'),
  replaces: described(v.nullable(v.string()), 'The key that this one replaced.'),
  replaced_by: described(v.nullable(v.string()), 'The key that replaced this one.'),
});

/** `key` is the complete key. Only this response contains it. In its replay it is `null`. */
export const CreatedKey = resource('CreatedKey', {
  ...KeyResource.entries,
  key: described(
    v.nullable(v.string()),
    'The complete key. Only this response contains it, because the service stores only a hash. `null` in a replay.',
  ),
});

/** Creates a key with random values, and its record before its first use. The record contains the hash of the key, but not the key. */
export function generateKey(
  { type, ...rest }: Pick<KeyRecord, 'projectId' | 'type' | 'name'> & Partial<KeyRecord>,
  createdAt: number,
  random: Random,
): { key: string; record: KeyRecord } {
  const { id, key } = newApiKey(type, createdAt, random);
  const { tokenSecret = Buffer.from(random(32)).toString('base64url') } = rest;
  const shown = { id, type, hash: hashApiKey(key), hint: key.slice(-4), cidrs: [] };
  return { key, record: { ...shown, ...rest, tokenSecret, publicKey: publicKeyOf(tokenSecret), createdAt } };
}

/** When a key stops working. */
type Lifetime = Pick<KeyRecord, 'revokedAt' | 'expiresAt'>;

/** `expiring`: the key works and has an expiry. Times are compared to the millisecond, and a key is expired at its `expires_at`. */
function keyStatus({ revokedAt, expiresAt }: Lifetime, nowMs: number): KeyStatus {
  if (revokedAt !== undefined) return 'revoked';
  if (expiresAt === undefined) return 'active';
  return nowMs < expiresAt ? 'expiring' : 'expired';
}

/** How long the list shows a key after its end. */
const ENDED_KEY_KEPT_MS = 400 * 24 * 60 * 60 * 1000;

/** When a key leaves the list, or `undefined` without a revocation and an expiry. */
export function keptUntil({ revokedAt, expiresAt }: Lifetime): number | undefined {
  const end = Math.min(revokedAt ?? Number.POSITIVE_INFINITY, expiresAt ?? Number.POSITIVE_INFINITY);
  return Number.isFinite(end) ? end + ENDED_KEY_KEPT_MS : undefined;
}

/** `false` for a key that has left the list. The table removes it late. */
export const isKept = (record: Lifetime, nowMs: number): boolean =>
  nowMs < (keptUntil(record) ?? Number.POSITIVE_INFINITY);

/** Why a key no longer works, or `null` if it works. */
export function endOf(record: Lifetime, nowMs: number): 'revoked' | 'expired' | null {
  const status = keyStatus(record, nowMs);
  return status === 'revoked' || status === 'expired' ? status : null;
}

export const isUsable = (record: Lifetime, nowMs: number): boolean => endOf(record, nowMs) === null;

/** Whether a key works and has no expiry. */
export const isLasting = (record: Lifetime, nowMs: number): boolean => keyStatus(record, nowMs) === 'active';

/** Whether a key is one of those that keep a project manageable. A project has at least one. */
export const isLastingAdmin = (record: Lifetime & Pick<KeyRecord, 'type'>, nowMs: number): boolean =>
  record.type === 'admin' && isLasting(record, nowMs);

/** The violations of the expiry of a new key. The schema rejects values that are no time. */
export function expiryViolations(json: unknown, nowMs: number): Violation[] {
  const expiry = check(timestampInput, isJsonObject(json) ? json.expires_at : undefined);
  const isPast = 'value' in expiry && expiry.value <= nowMs;
  return isPast ? [{ field: 'expires_at', detail: 'must be in the future' }] : [];
}

/** Whether a reference in a path means this key. A complete key must match the stored hash, not only the id. */
export const isNamedBy = (reference: string, { id, hash }: Pick<KeyRecord, 'id' | 'hash'>): boolean =>
  reference === id || sameText(hashApiKey(reference), hash);

export function keyResource(record: KeyRecord, nowMs: number): v.InferOutput<typeof KeyResource> {
  return {
    id: record.id,
    type: record.type,
    name: record.name,
    hint: record.hint,
    status: keyStatus(record, nowMs),
    cidrs: record.cidrs,
    created_at: iso(record.createdAt),
    last_used_at: isoOrNull(record.lastUsedAt),
    last_rejected: lastRejection(record.lastRejected),
    expires_at: isoOrNull(record.expiresAt),
    revoked_at: isoOrNull(record.revokedAt),
    replaces: record.replaces ?? null,
    replaced_by: record.replacedBy ?? null,
  };
}
