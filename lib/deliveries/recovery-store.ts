import { all, is, isAbsent, isStill, put, update } from '../aws/expressions.ts';
import { type Item, itemKey, timeToLive } from '../aws/items.ts';
import type { Table } from '../aws/table.ts';
import type { Write } from '../aws/writes.ts';
import { EVENT_RETENTION_MS } from '../events/event.ts';
import { toWebhook } from '../webhooks/store.ts';
import type { WebhookRecord } from '../webhooks/webhook.ts';
import { endpoints } from './endpoint-store.ts';
import type { RecoverMessage } from './messages.ts';
import type { RecoveryContext, RecoveryPosition, RecoveryRecord } from './recovery-record.ts';
import { windowStart } from './recovery-window.ts';

const toRecovery = (item: Item): RecoveryRecord => item as unknown as RecoveryRecord;

/** A recovery is kept as long as the events that it sent. */
const keptAt = (nowMs: number) => ({ expires: timeToLive(nowMs + EVENT_RETENTION_MS) });

const ended = (nowMs: number) => ({ endedAt: nowMs, from: undefined, nextPending: undefined });

export type Recoveries = ReturnType<typeof recoveries>;

/** The current or last recovery of each webhook. */
export function recoveries(table: Table) {
  const { extendOutage } = endpoints(table);

  return {
    /** Strongly consistent. */
    async get(webhookId: string): Promise<RecoveryRecord | undefined> {
      const item = await table.get(itemKey.recovery(webhookId));
      return item && toRecovery(item);
    },

    /** Loads what a message needs as a batch, because the functions that deliver have no permission for single reads. */
    async load({ webhookId, ...space }: RecoverMessage['recover']): Promise<RecoveryContext> {
      const keys = [itemKey.webhook(space, webhookId), itemKey.recovery(webhookId), itemKey.project(space.projectId)];
      const [webhook, recovery, project] = await table.batchGet(keys);
      return {
        webhook: webhook && toWebhook(webhook),
        recovery: recovery && toRecovery(recovery),
        isSuspended: project?.suspendedAt !== undefined,
      };
    },

    /**
     * Makes a recovery the current one of its webhook, together with a change of the webhook and `also`. `false` if the webhook was
     * disabled, enabled or deleted since it was read, or another recovery has started.
     */
    async start(
      read: WebhookRecord,
      change: Partial<WebhookRecord>,
      recovery: RecoveryRecord,
      also: readonly Write[],
    ): Promise<boolean> {
      const isUnchanged = all(is('status', read.status), isStill('recoveryId', read.recoveryId));
      const claimed = update(itemKey.webhook(read, read.id), { ...change, recoveryId: recovery.id }, isUnchanged);
      const started = put({ ...itemKey.recovery(read.id), ...recovery, ...keptAt(recovery.startedAt) });
      return (await table.write([claimed, started, ...also])).length === 0;
    },

    /**
     * Records that the page of a recovery is done: the next one starts at `from`, or the recovery ends without it. If another run of
     * the message recorded the page before, or the recovery has ended, it returns the stored recovery.
     */
    async completePage(
      webhookId: string,
      { id, page }: RecoveryRecord,
      from: RecoveryPosition | undefined,
      nowMs: number,
    ): Promise<{ isDone: boolean; stored: RecoveryRecord | undefined }> {
      const next = from ? { page: page + 1, from, nextPending: true } : ended(nowMs);
      const isDue = all(is('id', id), is('page', page), isAbsent('endedAt'));
      const values = { ...next, progressAt: nowMs, ...keptAt(nowMs) };
      const [rejected] = await table.write([update(itemKey.recovery(webhookId), values, isDue)]);
      return { isDone: !rejected, stored: rejected?.item && toRecovery(rejected.item) };
    },

    /** Records that the message of a page is queued. */
    async markQueued(webhookId: string, { id, page }: Pick<RecoveryRecord, 'id' | 'page'>): Promise<void> {
      const isLast = all(is('id', id), is('page', page));
      await table.write([update(itemKey.recovery(webhookId), { nextPending: undefined }, isLast)]);
    },

    /**
     * Ends a recovery before its last page, unless it has ended. By default, the next recovery also covers the deliveries that it
     * did not start.
     */
    async end(
      webhook: Pick<WebhookRecord, 'projectId' | 'environment' | 'id'>,
      recovery: RecoveryRecord,
      nowMs: number,
    ) {
      await extendOutage(webhook, windowStart(recovery));
      const isRunning = all(is('id', recovery.id), isAbsent('endedAt'));
      await table.write([update(itemKey.recovery(webhook.id), ended(nowMs), isRunning)]);
    },
  };
}
