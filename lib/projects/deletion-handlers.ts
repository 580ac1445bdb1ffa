import type { Backend } from '../aws/backend.ts';
import { iso, isoOrNull } from '../schema.ts';
import { type ProjectData, projectData } from './data-store.ts';
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
    const project = await projects(table).get(projectId);
    if (!project) throw new Error(`There is no project ${projectId}`);
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

  /** Continues a pass until its end or until the time. Webhooks and keys go first, so that nothing is delivered or added. */
  async function work(read: DeletionRecord, untilMs: number): Promise<DeletionRecord> {
    const { projectId } = read;
    let deletion: DeletionRecord = { ...read, passAt: read.passAt ?? clock() };
    if (read.passAt === undefined)
      for (const keys of [await data.webhookItems(projectId), await data.apiKeyItems(projectId)]) await remove(keys);
    do {
      const { keys, next } = await data.itemKeys(deletion.after);
      const webhooks = new Set(deletion.webhooks);
      await remove(keys.filter(({ pk }) => isOwned(pk, projectId, webhooks)));
      deletion = { ...deletion, after: next, read: deletion.read + keys.length };
      if (next === undefined) return afterPass(deletion, clock());
    } while (clock() < untilMs);
    return deletion;

    async function remove(keys: Parameters<ProjectData['remove']>[0]): Promise<void> {
      await data.remove(keys);
      const created = keys.filter(({ pk }) => pk.startsWith('HOOKS#')).map(({ sk }) => sk);
      deletion = {
        ...deletion,
        webhooks: [...new Set([...deletion.webhooks, ...created])],
        removedInPass: deletion.removedInPass + keys.length,
        removed: deletion.removed + keys.length,
      };
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
