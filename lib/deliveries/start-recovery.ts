import type { ChangeEntry } from '../audit/audit.ts';
import type { Backend } from '../aws/backend.ts';
import type { Write } from '../aws/writes.ts';
import { effectOf } from '../webhooks/apply-change.ts';
import type { WebhookRecord } from '../webhooks/webhook.ts';
import { laneQueues } from './lane-queues.ts';
import { pageMessage, RECOVERY_DELAY_SECONDS, type RecoveryRecord } from './recovery-record.ts';
import { recoveries as recoveriesIn } from './recovery-store.ts';

/**
 * Starts a recovery, and enables its webhook if it is disabled. `false` if the webhook has changed since it was read. The message
 * goes first, because a message without a recovery does nothing, but a recovery without a message would never end.
 */
export function recoveryStart(backend: Backend) {
  const send = laneQueues(backend);
  const recoveries = recoveriesIn(backend.table);
  return async (
    webhook: WebhookRecord,
    recovery: RecoveryRecord,
    audited: (entry: ChangeEntry) => Write,
    also: readonly Write[] = [],
  ): Promise<boolean> => {
    await send('quick', [pageMessage(webhook, recovery)], RECOVERY_DELAY_SECONDS);
    const enabled = effectOf(webhook, { status: 'enabled' }, recovery.startedAt);
    const entries = enabled ? [audited(enabled.entry)] : [];
    return recoveries.start(webhook, enabled?.members ?? {}, recovery, [...also, ...entries]);
  };
}
