import * as v from 'valibot';
import { described, resource, wholeNumber } from '../schema.ts';
import type { KeyRecord } from './key.ts';

/** The retention of the use of a key in days. */
export const USAGE_DAYS = 30;

const HOUR_MS = 60 * 60 * 1000;
const dayOf = (ms: number): number => Math.floor(ms / (24 * HOUR_MS));

export const KeyUsage = resource('KeyUsage', {
  id: described(v.string(), 'The key.'),
  days: described(
    v.array(
      v.object({
        date: described(v.pipe(v.string(), v.isoDate()), 'The day in UTC.'),
        active_hours: described(
          wholeNumber(),
          'The hours of that day in which the API allowed a request with the key, one of its tokens or one of its dashboard links. It is not the number of requests. The count can be slightly low.',
        ),
      }),
    ),
    `Today and the ${USAGE_DAYS - 1} days before, newest first.`,
  ),
});

type Usage = Pick<KeyRecord, 'lastUsedAt' | 'activeHours'>;
export type KeyUse = NonNullable<ReturnType<typeof useToRecord>>;

/**
 * The change of a key's record for a use: its hour, in one write per key and hour. `null` if the hour is recorded. Days without
 * use are zeros, and days over the retention are removed.
 */
export function useToRecord({ lastUsedAt, activeHours = [] }: Usage, nowMs: number) {
  const hour = Math.floor(nowMs / HOUR_MS) * HOUR_MS;
  if (lastUsedAt !== undefined && lastUsedAt >= hour) return null;
  const passed = Math.min(dayOf(hour) - dayOf(lastUsedAt ?? hour), USAGE_DAYS);
  const [today = 0, ...before] = [...Array<number>(passed).fill(0), ...activeHours];
  return { lastUsedAt: hour, activeHours: [today + 1, ...before].slice(0, USAGE_DAYS) };
}

export function keyUsage(
  { id, lastUsedAt, activeHours = [] }: Usage & Pick<KeyRecord, 'id'>,
  nowMs: number,
): v.InferOutput<typeof KeyUsage> {
  const today = dayOf(nowMs);
  const newest = dayOf(lastUsedAt ?? 0);
  const days = Array.from({ length: USAGE_DAYS }, (_, i) => ({
    date: new Date((today - i) * 24 * HOUR_MS).toISOString().slice(0, 10),
    active_hours: activeHours[newest - (today - i)] ?? 0,
  }));
  return { id, days };
}
