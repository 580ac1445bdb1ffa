import { type DeliveryReason, MAX_ATTEMPTS, type Trigger } from '../../../../lib/deliveries/retry-schedule.ts';
import type { Delivery } from '../state/api.ts';

export const TRIGGER_NAMES: Record<Trigger, string> = {
  schedule: 'on schedule',
  redelivery: 'redelivery',
  recovery: 'recovery',
  test: 'test',
};

/** Why a delivery was canceled or skipped, in a list. */
export const REASON_NAMES: Record<DeliveryReason, string> = {
  disabled: 'webhook disabled',
  paused: 'webhook paused',
  deleted: 'webhook deleted',
  suspended: 'project suspended',
  rate_limited: 'rate limit',
};

const REASONS: Record<DeliveryReason, string> = {
  disabled: 'because all six attempts of a delivery had failed, which disabled the webhook',
  paused: 'because a person had paused the webhook',
  deleted: 'because the webhook was deleted',
  suspended: 'because the operator had suspended the project',
  rate_limited: 'because it would have waited for more than an hour for the rate limit of the webhook',
};

/** The status of a delivery in a sentence, with one cause. */
export function meaningOf({ status, reason, test, attempts }: Delivery): string {
  const cause = reason ? ` ${REASONS[reason]}` : '';
  switch (status) {
    case 'pending':
      return 'The first attempt is queued.';
    case 'succeeded':
      return 'Your endpoint accepted the event.';
    case 'retrying':
      return 'Another attempt is scheduled.';
    case 'canceled':
      return `The next attempt was canceled${cause}.`;
    case 'skipped':
      return `No attempt was made${cause}.`;
    case 'failed':
      if (test) return 'A test event is not retried.';
      return attempts.at(-1)?.number === MAX_ATTEMPTS
        ? 'All six attempts failed.'
        : 'The event expired before the next attempt.';
  }
}
