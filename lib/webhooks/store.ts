import { all, any, exists, increased, is, isAbsent, isBelow, isNew, put, remove, update } from '../aws/expressions.ts';
import { type Item, itemKey, timeToLive } from '../aws/items.ts';
import { wholePartition } from '../aws/queries.ts';
import type { Table } from '../aws/table.ts';
import type { Write } from '../aws/writes.ts';
import { PERIOD_MS, STATS_KEPT_MS } from '../deliveries/stats.ts';
import type { Space } from '../space.ts';
import { MAX_WEBHOOKS, type WebhookRecord } from './webhook.ts';

/**
 * How long the log of a deleted webhook stays in the list of logs: as long as its last stats, which can be a month late. Messages
 * of a deleted webhook stay in a queue and a dead-letter queue for 14 days each.
 */
const LOG_KEPT_MS = STATS_KEPT_MS.day + 32 * PERIOD_MS.day;

export const toWebhook = (item: Item): WebhookRecord => item as unknown as WebhookRecord;

export function webhooks(table: Table) {
  const countUp = (space: Space): Write =>
    update(
      itemKey.webhookCount(space),
      { webhooks: increased(1) },
      any(isAbsent('webhooks'), isBelow('webhooks', MAX_WEBHOOKS)),
    );
  const countDown = (space: Space): Write => update(itemKey.webhookCount(space), { webhooks: increased(-1) });

  return {
    get,

    /** Lists webhooks in the order of their creation. */
    async list(
      space: Space,
      limit: number,
      after?: string,
    ): Promise<{ webhooks: WebhookRecord[]; next: string | undefined }> {
      const rest = await allWebhooks(table, space, after);
      return { webhooks: rest.slice(0, limit), next: rest.length > limit ? rest[limit - 1]?.id : undefined };
    },

    /** `full`: the space has the maximum number of webhooks. Throws if a write of `also` is rejected. */
    async create(webhook: WebhookRecord, also: readonly Write[]): Promise<'created' | 'full'> {
      const created = put({ ...itemKey.webhook(webhook, webhook.id), ...webhook }, isNew);
      const logged = put({ ...itemKey.log(webhook.projectId, webhook.id) });
      const [rejected] = await table.write([countUp(webhook), created, logged, ...also]);
      if (!rejected) return 'created';
      if (rejected.index === 0) return 'full';
      throw new Error('The new webhook id is taken, or another run of this request has begun');
    },

    /**
     * Sets the defined members and removes the undefined ones. Returns the webhook as it was read, with the change, or `undefined`
     * if it was deleted, or its status or secret has changed.
     */
    async change(
      read: WebhookRecord,
      change: Partial<WebhookRecord>,
      also: readonly Write[] = [],
    ): Promise<WebhookRecord | undefined> {
      const isUnchanged = all(is('status', read.status), is('secret', read.secret));
      const changed = update(itemKey.webhook(read, read.id), { ...change }, isUnchanged);
      const isRejected = (await table.write([changed, ...also])).length > 0;
      return isRejected ? undefined : { ...read, ...change };
    },

    /** `false` if it was gone already. */
    async remove(space: Space, id: string, nowMs: number, also: readonly Write[] = []): Promise<boolean> {
      const removed = remove(itemKey.webhook(space, id), exists);
      const kept = update(itemKey.log(space.projectId, id), { expires: timeToLive(nowMs + LOG_KEPT_MS) });
      return (await table.write([removed, countDown(space), kept, ...also])).length === 0;
    },
  };

  async function get(space: Space, id: string): Promise<WebhookRecord | undefined> {
    const item = await table.get(itemKey.webhook(space, id));
    return item && toWebhook(item);
  }
}

/** Reads every webhook of a space, of which there are at most 100, or those after one. */
export async function allWebhooks(table: Table, space: Space, afterId?: string): Promise<WebhookRecord[]> {
  const after = afterId === undefined ? undefined : itemKey.webhook(space, afterId);
  const all = { ...wholePartition(itemKey.webhook(space, '').pk), after };
  const records: WebhookRecord[] = [];
  for await (const item of table.queryAll(all)) records.push(toWebhook(item));
  return records;
}
