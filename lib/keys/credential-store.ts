import { itemKey } from '../aws/items.ts';
import type { Table } from '../aws/table.ts';
import type { ProjectRecord } from '../projects/project.ts';
import { projects } from '../projects/store.ts';
import type { KeyRecord } from './key.ts';
import { apiKeys } from './store.ts';

/** A key and the project that it belongs to. `undefined`: the project is deleted. */
interface KeyWithProject extends KeyRecord {
  project: ProjectRecord | undefined;
}

/** Limits the memory of an execution environment to about 2 MB. */
const MAX_KNOWN_KEYS = 10_000;

/**
 * Reads keys together with their projects, strongly consistent. Remembers which project a key belongs to, because that never
 * changes. A key that this execution environment has read before therefore needs one request instead of two in sequence.
 */
export function credentials(table: Table) {
  const { get, recordUse } = apiKeys(table);
  const projectOf = projects(table);
  const projectIds = new Map<string, string>();
  return {
    recordUse,

    async get(id: string): Promise<KeyWithProject | undefined> {
      const projectId = projectIds.get(id);
      if (projectId !== undefined) {
        const [key, project] = await table.batchGet([itemKey.key(id), itemKey.project(projectId)]);
        return key && { ...(key as unknown as KeyRecord), project: project as ProjectRecord | undefined };
      }
      const key = await get(id);
      if (!key) return undefined;
      if (projectIds.size >= MAX_KNOWN_KEYS) projectIds.clear();
      projectIds.set(id, key.projectId);
      return { ...key, project: await projectOf.get(key.projectId) };
    },
  };
}
