// The browser imports this file too, so it must stay small.

import type { EventOutcome } from '../events/event.ts';
import { type DeliveryStatus, isUnderWay } from './retry-schedule.ts';

/** A webhook that a person paused receives nothing, as intended, so it does not count. A disabled one misses events. */
export const isCounted = (status: 'enabled' | 'disabled', disabledReason: string | null | undefined): boolean =>
  status === 'enabled' || disabledReason !== 'paused';

/** The outcome of an event, from the statuses of its deliveries to all webhooks that count. */
export function outcomeOf(statuses: readonly DeliveryStatus[]): EventOutcome {
  const delivered = statuses.filter((status) => status === 'succeeded').length;
  const pending = statuses.filter(isUnderWay).length;
  return { delivered, pending, undelivered: statuses.length - delivered - pending };
}
