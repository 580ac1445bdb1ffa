import { all, exists, is, isNew, put, update } from '../aws/expressions.ts';
import { type Item, type ItemKey, itemKey, keyOf } from '../aws/items.ts';
import { partitionsOfProject, partitionsOfWebhook, typePartitionsOfProject } from '../aws/partitions.ts';
import { keysQuery, typeQuery, wholePartition } from '../aws/queries.ts';
import type { Query, Table } from '../aws/table.ts';
import { keysOfEntry } from '../events/store.ts';
import type { ProjectRecord } from '../projects/project.ts';
import { type DeletionPage, type DeletionRecord, isProvable } from './deletion.ts';
import { positionOf } from './export-section-store.ts';

/** The keys of items in one step. */
const ITEMS_OF_STEP = 1000;
/** The webhooks whose logs one step removes, and the items of each of their partitions. */
const LOGS_OF_STEP = 10;
const ITEMS_OF_LOG = 100;

/** The sections that are no partition: the API keys, and the logs of all webhooks that the project has had. */
const [KEYS, LOGS] = ['keys', 'logs'];
/** What the sections of events start with, before a partition of the index by type. */
const EVENTS = 'events ';

/** The sections of a pass. Webhooks and API keys go first, so that nothing is delivered or added. */
export function sectionsOf(projectId: string): string[] {
  const partitions = partitionsOfProject(projectId);
  const isWebhooks = (pk: string) => pk.startsWith('HOOKS#');
  const events = typePartitionsOfProject(projectId).map((partition) => EVENTS + partition);
  return [...partitions.filter(isWebhooks), KEYS, LOGS, ...events, ...partitions.filter((pk) => !isWebhooks(pk))];
}

/** The deletions of projects. Each step reads and removes a limited number of items, whatever the project contains. */
export function deletions(table: Table) {
  return {
    async get(projectId: string): Promise<DeletionRecord | undefined> {
      const item = await table.get(itemKey.deletion(projectId));
      if (!item) return undefined;
      const { pk: _, sk: __, ...deletion } = item;
      return deletion as unknown as DeletionRecord;
    },

    /** Revokes all credentials and records the deletion. `false` if the project has changed, or another run did so first. */
    async begin({ id, name }: ProjectRecord, deletion: DeletionRecord): Promise<boolean> {
      const { startedAt } = deletion;
      const stop = { suspendedAt: startedAt, deletingAt: startedAt };
      const stopped = update(itemKey.project(id), stop, all(exists, is('name', name)));
      const begun = put({ ...itemKey.deletion(id), ...deletion }, isNew);
      return (await table.write([stopped, begun])).length === 0;
    },

    /** Saves the next step. `false` if another run saved one since `read`. A deleted project leaves the list of projects. */
    async save(read: DeletionRecord, { projectId, ...next }: DeletionRecord): Promise<boolean> {
      if (next.completedAt !== undefined) await table.removeAll([itemKey.listedProject(projectId)]);
      const values = { ...next, step: read.step + 1 };
      return (await table.write([update(itemKey.deletion(projectId), values, is('step', read.step))])).length === 0;
    },

    /** Performs one step of a pass. */
    removePage(deletion: DeletionRecord): Promise<DeletionPage> {
      const { projectId, section = sectionsOf(projectId)[0] ?? '', after } = deletion;
      if (section === LOGS) return removeLogs(deletion);
      if (section.startsWith(EVENTS)) return removeEvents(section.slice(EVENTS.length), after);
      return removeItems({
        ...(section === KEYS ? keysQuery(projectId) : wholePartition(section)),
        Limit: ITEMS_OF_STEP,
        after,
      });
    },
  };

  async function removeItems(query: Query): Promise<DeletionPage> {
    const { keys, next } = await keysOf(query);
    await table.removeAll(keys);
    return { found: keys.length, isLast: next === undefined, after: next };
  }

  /** Removes the events of publications. The first event of each goes last, because it leads to the others. */
  async function removeEvents(partition: string, after: object | undefined): Promise<DeletionPage> {
    const { items, next } = await table.query({ ...typeQuery(partition), Limit: ITEMS_OF_STEP, after });
    const entries: Item[] = [];
    const followers: ItemKey[] = [];
    for (const entry of items) {
      if (entries.length + followers.length >= ITEMS_OF_STEP) break;
      entries.push(entry);
      followers.push(...keysOfEntry(entry).slice(0, -1).map(keyOf));
    }
    await table.removeAll(followers);
    await table.removeAll(entries.map(keyOf));
    const isAll = entries.length === items.length;
    return {
      found: entries.length + followers.length,
      isLast: isAll && next === undefined,
      after: isAll ? next : positionOf(entries.at(-1) ?? {}),
    };
  }

  /**
   * Removes the deliveries, stats and rate limits of webhooks. A webhook with more of them than one step removes is the first one
   * of the next step. The id of a webhook is only removed when nothing can be added anymore.
   */
  async function removeLogs(deletion: DeletionRecord): Promise<DeletionPage> {
    const { pk } = itemKey.log(deletion.projectId, '');
    const { keys: logs, next } = await keysOf({ ...wholePartition(pk), Limit: LOGS_OF_STEP, after: deletion.after });
    const found = await Promise.all(logs.map(({ sk }) => logOf(sk)));
    const unfinished = found.findIndex(({ isComplete }) => !isComplete);
    const finished = unfinished < 0 ? logs : logs.slice(0, unfinished);
    const ids = isProvable(deletion) ? finished.filter((_, i) => found[i]?.keys.length === 0) : [];
    const keys = found.flatMap((log) => log.keys);
    await table.removeAll([...keys, ...ids]);
    return {
      found: keys.length,
      ids: ids.length,
      isLast: unfinished < 0 && next === undefined,
      after: finished.at(-1) ?? deletion.after,
    };
  }

  /** The next items of a webhook. */
  async function logOf(webhookId: string): Promise<{ keys: ItemKey[]; isComplete: boolean }> {
    const queries = partitionsOfWebhook(webhookId).map((pk) => ({ ...wholePartition(pk), Limit: ITEMS_OF_LOG }));
    const pages = await Promise.all(queries.map(keysOf));
    return { keys: pages.flatMap(({ keys }) => keys), isComplete: pages.every(({ next }) => next === undefined) };
  }

  /** The permissions of the function allow queries of nothing but keys for most kinds of items (infra/functions.ts). */
  async function keysOf(query: Query): Promise<{ keys: ItemKey[]; next: ItemKey | undefined }> {
    const keysOnly = { Select: 'SPECIFIC_ATTRIBUTES', ProjectionExpression: 'pk, sk' } as const;
    const { items, next } = await table.query({ ...query, ...keysOnly });
    return { keys: items.map(keyOf), next };
  }
}
