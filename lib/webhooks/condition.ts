import * as v from 'valibot';
import { described, timestamp, wholeNumber } from '../schema.ts';

export const DISABLED_REASONS = ['deliveries_failed', 'paused'] as const;

const count = (meaning: string) => described(wholeNumber(), `${meaning} The count is at most a minute late.`);

/** The members of a webhook that show what its endpoint receives. */
export const CONDITION = {
  disabled_at: described(
    v.nullable(timestamp),
    'When the webhook was last disabled; `null` once a delivery has succeeded after it was enabled again.',
  ),
  disabled_reason: described(
    v.nullable(v.picklist(DISABLED_REASONS)),
    '`deliveries_failed`: all six attempts of a delivery failed. `paused`: a request disabled the webhook.',
  ),
  failing_since: described(v.nullable(timestamp), 'When the first attempt since the last success failed.'),
  undelivered: count(
    'The deliveries of the last 30 days that are `failed`, `canceled` or `skipped` now. The endpoint did not receive them, and a recovery sends them. Test events do not count.',
  ),
  undelivered_paused: count(
    'How many of the `undelivered` ones have the `reason` `paused`, because a request had paused the webhook.',
  ),
  retrying: count(
    'The deliveries that are `retrying` now: the last attempt failed, and another is scheduled. A delivery becomes `canceled` if the webhook is disabled when the next attempt is due.',
  ),
};

/** How many deliveries an endpoint has not received. */
export type Backlog = Record<'undelivered' | 'undelivered_paused' | 'retrying', number>;

export const NO_BACKLOG: Backlog = { undelivered: 0, undelivered_paused: 0, retrying: 0 };
