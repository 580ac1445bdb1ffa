import type { RecoveryCounts } from './recovery-record.ts';
import { isUnderWay } from './retry-schedule.ts';
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

/**
 * The first change that contains a recovery counts as its start, and the change that ends the run as its result. A run can record
 * itself, so one change can do both.
 */
function countsOf({ before, after }: DeliveryChange): RecoveryCounts | null {
  const isStart = before?.recovery !== after.recovery;
  const isEnd = !isUnderWay(after.status) && (isStart || (before !== undefined && isUnderWay(before.status)));
  if (!isStart && !isEnd) return null;
  const isDelivered = isEnd && after.status === 'succeeded';
  return { sent: Number(isStart), delivered: Number(isDelivered), failed: Number(isEnd && !isDelivered) };
}
