import type { Backend } from '../aws/backend.ts';
import type { ItemKey } from '../aws/items.ts';
import { iso, isoOrNull } from '../schema.ts';
import { projectData } from './data-store.ts';
import { afterPass, type DeletionRecord, isOwned, waitsUntil } from './deletion.ts';
import { projects } from './store.ts';

/** How long one call works. The caller calls again until `state` is `deleted`. */
export const WORK_MS = 10_000;

/**
 * Deletes a project in steps. The first call needs the name of the project, and revokes all of its credentials. Each call continues
 * a pass over the keys of the whole table, because some items can be found in no other way. A call that ends early repeats work
 * and skips none. The last pass finds no item of the project, which is the proof.
 */
export function deleteProject({ table, clock, log }: Backend) {
  const data = projectData(table);
  return async (projectId: string, name: string | undefined) => {
    const started = clock();
    let deletion = (await data.deletion(projectId)) ?? (await begin(projectId, name));
    while (deletion.completedAt === undefined && clock() - started < WORK_MS) {
      if (waitsUntil(deletion, clock()) !== undefined) break;
      const next = await work(deletion, started + WORK_MS);
      const isSaved = await data.saveDeletion(deletion, next);
      deletion = isSaved ? { ...next, step: deletion.step + 1 } : await stored(projectId);
      if (isSaved && next.completedAt !== undefined)
        log.info('project.deleted', { project_id: projectId, items: next.removed });
    }
    return deletionResource(deletion, clock());
  };

  async function begin(projectId: string, name: string | undefined): Promise<DeletionRecord> {
    const project = await projects(table).existing(projectId);
    if (project.name !== name) throw new Error('The name is not the name of the project');
    const counts = { step: 0, removedInPass: 0, removed: 0, read: 0 };
    const deletion = { projectId, startedAt: clock(), webhooks: await data.webhookIds(projectId), ...counts };
    if (await data.beginDeletion(project, deletion))
      log.info('project.deletion_started', { project_id: projectId, webhooks: deletion.webhooks.length });
    return stored(projectId);
  }

  async function stored(projectId: string): Promise<DeletionRecord> {
    const deletion = await data.deletion(projectId);
    if (!deletion) throw new Error('The project has changed. Repeat the request');
    return deletion;
  }

  /**
   * Continues a pass until its end or until the time. Webhooks and keys go first, so that nothing is delivered or added. New
   * webhooks are saved before they are removed, because their deliveries are found with their ids.
   */
  async function work(read: DeletionRecord, untilMs: number): Promise<DeletionRecord> {
    const { projectId } = read;
    const webhooks = new Set(read.webhooks);
    let deletion: DeletionRecord = { ...read, passAt: read.passAt ?? clock() };
    if (!(await removed(await data.credentialItems(projectId)))) return deletion;
    do {
      const { keys, next } = await data.itemKeys(deletion.after);
      if (!(await removed(keys.filter(({ pk }) => isOwned(pk, projectId, webhooks))))) return deletion;
      deletion = { ...deletion, after: next, read: deletion.read + keys.length };
      if (next === undefined) return afterPass(deletion, clock());
    } while (clock() < untilMs);
    return deletion;

    /** `false` if the keys contain new webhooks, which are only added to the deletion. */
    async function removed(keys: readonly ItemKey[]): Promise<boolean> {
      const found = keys.filter(({ pk, sk }) => pk.startsWith('HOOKS#') && !webhooks.has(sk)).map(({ sk }) => sk);
      if (found.length > 0) {
        deletion = { ...deletion, webhooks: [...webhooks, ...found] };
        return false;
      }
      await table.removeAll(keys);
      const { removedInPass, removed } = deletion;
      deletion = { ...deletion, removedInPass: removedInPass + keys.length, removed: removed + keys.length };
      return true;
    }
  }
}

export function deletionResource(deletion: DeletionRecord, nowMs: number) {
  const { completedAt } = deletion;
  return {
    id: deletion.projectId,
    state: completedAt === undefined ? 'deleting' : 'deleted',
    deletion_started_at: iso(deletion.startedAt),
    deleted_at: isoOrNull(completedAt),
    items_removed: deletion.removed,
    items_read: deletion.read,
    /** Until then, requests that were running at the start can add items. */
    waits_until: isoOrNull(waitsUntil(deletion, nowMs)),
  } as const;
}
