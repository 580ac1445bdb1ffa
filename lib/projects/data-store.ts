import * as v from 'valibot';
import { is, isNew, put, update } from '../aws/expressions.ts';
import { type ItemKey, itemKey, keyOf } from '../aws/items.ts';
import { keysQuery, wholePartition } from '../aws/queries.ts';
import type { Table } from '../aws/table.ts';
import { countersOf, sumOf } from '../deliveries/stats.ts';
import { stats } from '../deliveries/stats-store.ts';
import { BY_PROJECT } from '../deployment.ts';
import { EVENT_TYPES } from '../events/types.ts';
import { ENVIRONMENTS } from '../space.ts';
import { allWebhooks } from '../webhooks/store.ts';
import type { WebhookRecord } from '../webhooks/webhook.ts';
import type { DeletionRecord } from './deletion.ts';
import type { ProjectRecord } from './project.ts';

/** The permissions of the function allow scans of keys only (infra/functions.ts). */
const KEYS_ONLY = { Select: 'SPECIFIC_ATTRIBUTES' } as const;
const KEYS_OF_SCAN = 500;
const STATS_DAYS = 30;
const DAY_MS = 24 * 60 * 60 * 1000;

/** The id of the project of an operation. */
export const ProjectId = v.pipe(v.string('must be a string'), v.regex(/^prj_\w+$/, 'must be the id of a project'));
/** Where the next page of an operation starts. */
export const Position = v.optional(v.record(v.string(), v.any()));

/** The data of whole projects, for operators. */
export function projectData(table: Table) {
  return {
    /** Reads the ids of projects from the index of their keys. Every project has a key. */
    async ids(limit: number, start?: object): Promise<{ ids: string[]; next: object | undefined }> {
      const ids: string[] = [];
      let last: object | undefined = start;
      for (let after = start; ; ) {
        const scan = { ...KEYS_ONLY, IndexName: BY_PROJECT, ProjectionExpression: 'keysOf, pk, sk' };
        const { items, next } = await table.scan({ ...scan, Limit: KEYS_OF_SCAN, after });
        for (const { keysOf, pk, sk } of items) {
          if (keysOf !== ids.at(-1)) {
            if (ids.length === limit) return { ids, next: last };
            ids.push(String(keysOf));
          }
          last = { keysOf, pk, sk };
        }
        if (next === undefined) return { ids, next: undefined };
        after = next;
      }
    },

    webhooks,

    /** The ids of the webhooks, including those that were deleted since the oldest entry of the audit log. */
    async webhookIds(projectId: string): Promise<string[]> {
      const ids = (await webhooks(projectId)).map(({ id }) => id);
      const entries = wholePartition(itemKey.audit(projectId, '').pk);
      for await (const { target } of table.queryAll({ ...entries, ProjectionExpression: 'target' }))
        if (String(target).startsWith('whk_')) ids.push(String(target));
      return [...new Set(ids)].sort();
    },

    /** The deliveries to a webhook that ended in the last 30 days. */
    async countDeliveries(webhookId: string, nowMs: number): Promise<number> {
      const days = await stats(table).list(webhookId, { by: 'day', from: nowMs - STATS_DAYS * DAY_MS, to: nowMs });
      const { delivered, failed, skipped, canceled } = countersOf(sumOf(days), EVENT_TYPES);
      return delivered + failed + skipped + canceled;
    },

    async deletion(projectId: string): Promise<DeletionRecord | undefined> {
      const item = await table.get(itemKey.deletion(projectId));
      if (!item) return undefined;
      const { pk: _, sk: __, ...deletion } = item;
      return deletion as unknown as DeletionRecord;
    },

    /** Revokes all credentials and records the deletion. `false` if another run did so first. */
    async beginDeletion({ id, name }: ProjectRecord, deletion: DeletionRecord): Promise<boolean> {
      const { startedAt } = deletion;
      const stop = { suspendedAt: startedAt, deletingAt: startedAt };
      const stopped = update(itemKey.project(id), stop, is('name', name));
      const begun = put({ ...itemKey.deletion(id), ...deletion }, isNew);
      return (await table.write([stopped, begun])).length === 0;
    },

    /** Saves the next step. `false` if another run saved one since `read`. */
    async saveDeletion(read: DeletionRecord, { projectId, ...next }: DeletionRecord): Promise<boolean> {
      const values = { ...next, step: read.step + 1 };
      return (await table.write([update(itemKey.deletion(projectId), values, is('step', read.step))])).length === 0;
    },

    /** The keys of items of the table, a page at a time. */
    async itemKeys(after: object | undefined): Promise<{ keys: ItemKey[]; next: object | undefined }> {
      const { items, next } = await table.scan({ ...KEYS_ONLY, ProjectionExpression: 'pk, sk', after });
      return { keys: items.map(keyOf), next };
    },

    apiKeyItems,

    /** The items of the webhooks and the API keys of a project. */
    async credentialItems(projectId: string): Promise<ItemKey[]> {
      const hooks = (await webhooks(projectId)).map((webhook) => itemKey.webhook(webhook, webhook.id));
      return [...hooks, ...(await apiKeyItems(projectId))];
    },
  };

  async function apiKeyItems(projectId: string): Promise<ItemKey[]> {
    const keys: ItemKey[] = [];
    for await (const item of table.queryAll(keysQuery(projectId))) keys.push(keyOf(item));
    return keys;
  }

  async function webhooks(projectId: string): Promise<WebhookRecord[]> {
    const lists = ENVIRONMENTS.map((environment) => allWebhooks(table, { projectId, environment }));
    return (await Promise.all(lists)).flat();
  }
}
