import type { Backend } from '../aws/backend.ts';
import { projects } from '../projects/store.ts';
import { iso, isoOrNull } from '../schema.ts';
import { afterPage, type DeletionRecord, waitsUntil } from './deletion.ts';
import { deletions as deletionsIn, sectionsOf } from './deletion-store.ts';

/** How long one call works. The caller calls again until `state` is `deleted`. */
export const WORK_MS = 10_000;

/**
 * Deletes a project in steps. The first call needs the name of the project. It revokes all credentials before it reads anything
 * that the project contains. Each call continues a pass over the items of the project, and no item of another one is read. A call
 * that ends early repeats work and skips none. The last pass finds no item of the project, which is the proof.
 */
export function deleteProject({ table, clock, log }: Backend) {
  const deletions = deletionsIn(table);
  return async (projectId: string, name: string | undefined) => {
    const started = clock();
    let deletion = (await deletions.get(projectId)) ?? (await begin(projectId, name));
    while (deletion.completedAt === undefined && clock() - started < WORK_MS) {
      if (waitsUntil(deletion, clock()) !== undefined) break;
      const next = await work(deletion, started + WORK_MS);
      const isSaved = await deletions.save(deletion, next);
      deletion = isSaved ? { ...next, step: deletion.step + 1 } : await stored(projectId);
      if (isSaved && next.completedAt !== undefined)
        log.info('project.deleted', { project_id: projectId, items: next.removed });
    }
    return deletionResource(deletion, clock());
  };

  async function begin(projectId: string, name: string | undefined): Promise<DeletionRecord> {
    const project = await projects(table).existing(projectId);
    if (project.name !== name) throw new Error('The name is not the name of the project');
    const deletion = { projectId, startedAt: clock(), step: 0, removedInPass: 0, removed: 0 };
    if (await deletions.begin(project, deletion)) log.info('project.deletion_started', { project_id: projectId });
    return stored(projectId);
  }

  async function stored(projectId: string): Promise<DeletionRecord> {
    const deletion = await deletions.get(projectId);
    if (!deletion) throw new Error('The project has changed. Repeat the request');
    return deletion;
  }

  /** Continues a pass until its end or until the time. */
  async function work(read: DeletionRecord, untilMs: number): Promise<DeletionRecord> {
    const sections = sectionsOf(read.projectId);
    let deletion: DeletionRecord = { ...read, passAt: read.passAt ?? clock() };
    do deletion = afterPage(deletion, await deletions.removePage(deletion), sections, clock());
    while (deletion.passAt !== undefined && clock() < untilMs);
    return deletion;
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
    /** Until then, requests that were running at the start can add items. */
    waits_until: isoOrNull(waitsUntil(deletion, nowMs)),
  } as const;
}
