import * as v from 'valibot';
import type { Random } from '../ids.ts';
import { optional } from '../optional.ts';
import { described, integer, request, timestampInput } from '../schema.ts';
import { generateKey, isLastingAdmin, isUsable, type KeyRecord } from './key.ts';

/** Seconds that the old key keeps working after a rotation. The maximum and the default. */
const GRACE_SECONDS = 24 * 60 * 60;

export const RotateKey = request('RotateKey', {
  grace_seconds: optional(
    described(
      integer(0, GRACE_SECONDS),
      'The seconds that the old key keeps working, but never past its own `expires_at`. The default is 24 hours.',
    ),
  ),
  expires_at: optional(
    described(
      v.nullable(timestampInput),
      'When the new key stops working. Without it, the new key has the `expires_at` of the old one. With `null`, it does not expire.',
    ),
  ),
});
type RotateKey = v.InferOutput<typeof RotateKey>;

/** A key that replaces another one. */
export interface Rotation {
  old: KeyRecord;
  /** The complete new key, and its record. */
  key: string;
  record: KeyRecord;
  /** When the old key stops working. */
  endsAt: number;
  /** Whether the project loses an admin key without an expiry, because the new one has an expiry. */
  losesLastingAdmin: boolean;
}

/** Replaces a key. `undefined`: the key does not work anymore, or was replaced before. */
export function rotation(old: KeyRecord, body: RotateKey, now: number, random: Random): Rotation | undefined {
  if (!isUsable(old, now) || old.replacedBy) return undefined;
  const { projectId, type, name, cidrs } = old;
  const expiresAt = body.expires_at === undefined ? old.expiresAt : (body.expires_at ?? undefined);
  const { key, record } = generateKey({ projectId, type, name, cidrs, expiresAt, replaces: old.id }, now, random);
  const losesLastingAdmin = isLastingAdmin(old, now) && !isLastingAdmin(record, now);
  return { old, key, record, endsAt: endOf(old, now, body.grace_seconds), losesLastingAdmin };
}

/** The old key ends after the grace, or at its own expiry if that is earlier. */
const endOf = (old: KeyRecord, now: number, graceSeconds = GRACE_SECONDS): number =>
  Math.min(now + graceSeconds * 1000, old.expiresAt ?? Number.POSITIVE_INFINITY);
