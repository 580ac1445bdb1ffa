import * as v from 'valibot';
import { described, iso, timestamp } from '../schema.ts';

/** Why the service rejects a genuine key, or a token or dashboard link of it. */
const REJECTIONS = ['revoked', 'expired', 'ip_not_allowed', 'suspended'] as const;
export type Rejection = (typeof REJECTIONS)[number];

const HOUR_MS = 60 * 60 * 1000;

export const LastRejection = described(
  v.nullable(
    v.object({
      at: described(timestamp, 'When, to the hour.'),
      reason: described(
        v.picklist(REJECTIONS),
        '401: the credential was `revoked` or had `expired`. 403: the allowlist does not contain the address (`ip_not_allowed`), or the project was `suspended`.',
      ),
    }),
  ),
  'The last request that the service rejected although the key, or the token or dashboard link of this key, is genuine. Of the reasons of one hour, it is the one that began last. `null` if there was none.',
);

/** The last hour with a rejected request, and its reasons in the order in which each one first occurred. */
export interface LastRejected {
  at: number;
  reasons: Rejection[];
}

/**
 * The change of a key's record for a rejected request: one write per key, hour and reason, so a client that repeats its requests
 * causes no further write. `null` if the record has it.
 */
export function rejectionToRecord(
  last: LastRejected | undefined,
  reason: Rejection,
  nowMs: number,
): LastRejected | null {
  const hour = Math.floor(nowMs / HOUR_MS) * HOUR_MS;
  if (last === undefined || last.at < hour) return { at: hour, reasons: [reason] };
  return last.at > hour || last.reasons.includes(reason) ? null : { at: hour, reasons: [...last.reasons, reason] };
}

export function lastRejection(last: LastRejected | undefined): v.InferOutput<typeof LastRejection> {
  const reason = last?.reasons.at(-1);
  return last && reason ? { at: iso(last.at), reason } : null;
}
