import type { WebhookRecord } from '../webhooks/webhook.ts';
import type { DeliveryRecord } from './record.ts';
import { stuckBefore } from './recovery-window.ts';
import { isUnderWay } from './retry-schedule.ts';

/** The next run of a delivery, or why it cannot start. */
export type Redelivery = { run: number; recovery: string | undefined } | 'first run pending' | 'webhook disabled';

/**
 * Starts another run of a delivery. `isRecorded`: its first run is. Before that, another run would duplicate the first one, unless
 * the first one is stuck.
 */
export function redelivery(
  delivery: Pick<DeliveryRecord, 'run' | 'status' | 'recovery' | 'createdAt'>,
  isRecorded: boolean,
  { status }: Pick<WebhookRecord, 'status'>,
  nowMs: number,
): Redelivery {
  if (!isRecorded && delivery.createdAt >= stuckBefore(nowMs)) return 'first run pending';
  if (status === 'disabled') return 'webhook disabled';
  // A recovery counts the result of its run. If the redelivery replaces that run, it counts the result of the redelivery.
  return { run: delivery.run + 1, recovery: isUnderWay(delivery.status) ? delivery.recovery : undefined };
}
