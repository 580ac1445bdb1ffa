import type { DeliveryRecord } from './record.ts';
import type { RecoveryCounts } from './recovery-record.ts';
import type { DeliveryChange, Tally } from './stats.ts';

/** The counts of one recovery, for each change in the order of the changes. */
export interface RecoveryTally {
  webhookId: string;
  recoveryId: string;
  entries: Tally['entries'];
}

/** Adds up changes, so that one write covers all changes of a recovery. */
export function recoveryTally(changes: readonly DeliveryChange[]): RecoveryTally[] {
  const tallies = new Map<string, RecoveryTally>();
  for (const change of changes) {
    const { webhookId, recovery: recoveryId } = change.after;
    const counts = countsOf(change);
    if (recoveryId === undefined || !counts) continue;
    const own = tallies.get(recoveryId) ?? { webhookId, recoveryId, entries: [] };
    own.entries.push({ sequence: change.sequence, counts });
    tallies.set(recoveryId, own);
  }
  return [...tallies.values()];
}

/** How a change moves the counts. A run can record itself, so one change can be both its start and its result. */
function countsOf({ before, after }: DeliveryChange): RecoveryCounts | null {
  const from = resultOf(before, after.recovery);
  const to = resultOf(after, after.recovery);
  const counts = {
    sent: to.sent - from.sent,
    delivered: to.delivered - from.delivered,
    failed: to.failed - from.failed,
  };
  return Object.values(counts).some((count) => count !== 0) ? counts : null;
}

/** What a delivery contributes to the counts. A run that waits for a retry has failed so far. */
function resultOf(record: DeliveryRecord | undefined, recoveryId: string | undefined): RecoveryCounts {
  if (!record || !recoveryId || record.recovery !== recoveryId) return { sent: 0, delivered: 0, failed: 0 };
  const isDelivered = record.status === 'succeeded';
  return { sent: 1, delivered: Number(isDelivered), failed: Number(!isDelivered && record.status !== 'pending') };
}
