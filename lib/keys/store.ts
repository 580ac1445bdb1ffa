import { all, type Condition, check, exists, is, isAbsent, isNew, isStill, put, update } from '../aws/expressions.ts';
import { type Item, itemKey } from '../aws/items.ts';
import { filtered, keysQuery } from '../aws/queries.ts';
import type { Table } from '../aws/table.ts';
import type { Write } from '../aws/writes.ts';
import type { ProjectRecord } from '../projects/project.ts';
import type { KeyRecord } from './key.ts';
import type { KeyUse } from './usage.ts';

/** The pages in which admin keys are looked for, from each end. Even with 1 MB each, they need less than a second. */
const ADMIN_PAGES = 8;

/** `keysOf` puts the record into the index of its project. */
export const putKey = (record: KeyRecord): Write =>
  put({ ...itemKey.key(record.id), keysOf: record.projectId, ...record }, isNew);

/** The keys of all projects. */
export function apiKeys(table: Table) {
  return {
    /** Strongly consistent, so a revocation applies immediately. */
    async get(id: string): Promise<KeyRecord | undefined> {
      return (await table.get(itemKey.key(id))) as KeyRecord | undefined;
    },

    /**
     * The admin keys of a project, newest first, read on demand. Of a project with thousands of keys, only those among its newest
     * and its oldest keys. A new key can appear with a short delay.
     */
    async *adminKeys(projectId: string): AsyncGenerator<KeyRecord> {
      const admins = filtered(keysQuery(projectId), is('type', 'admin'));
      for (const ScanIndexForward of [false, true]) {
        const { items, next } = await table.queryPages({ ...admins, ScanIndexForward }, ADMIN_PAGES);
        yield* items as unknown as KeyRecord[];
        if (next === undefined) return;
      }
    },

    /** Lists keys, newest first. A new key can appear with a short delay. */
    async list(
      projectId: string,
      limit: number,
      after?: string,
    ): Promise<{ keys: KeyRecord[]; next: string | undefined }> {
      const { items, next } = await table.query({
        ...keysQuery(projectId),
        ScanIndexForward: false,
        Limit: limit,
        after: after === undefined ? undefined : { ...itemKey.key(after), keysOf: projectId },
      });
      const keys = items as unknown as KeyRecord[];
      return { keys, next: next && keys.at(-1)?.id };
    },

    async create(record: KeyRecord, also: readonly Write[]): Promise<void> {
      if ((await table.write([putKey(record), ...also])).length > 0) throw new Error('The new key id is taken');
    },

    /** Adds the new key and ends the old one at `expiresAt`. `false` if the old key has been rotated or revoked. */
    rotate: (old: KeyRecord, fresh: KeyRecord, expiresAt: number, also: readonly Write[]): Promise<boolean> =>
      change(old.id, { replacedBy: fresh.id, expiresAt }, isAsRead(old), [putKey(fresh), ...also]),

    /** `false` if there is no such key. */
    rename: (id: string, name: string | null, also: readonly Write[]): Promise<boolean> =>
      change(id, { name }, exists, also),

    /** `false` if the key is already revoked. */
    revoke: (id: string, revokedAt: number, also: readonly Write[]): Promise<boolean> =>
      change(id, { revokedAt }, all(exists, isAbsent('revokedAt')), also),

    setCidrs: (id: string, cidrs: string[], also: readonly Write[]): Promise<boolean> =>
      change(id, { cidrs }, exists, also),

    /** The condition that a key still works without an expiry, from the same addresses, for the change of another key. */
    stillLasting: ({ id, cidrs }: KeyRecord): Write =>
      check(itemKey.key(id), all(isAbsent('revokedAt'), isAbsent('expiresAt'), is('cidrs', cidrs))),

    /** Replaces the revoked tokens that were read. `false` if another request has changed them since. */
    setRevokedTokens: (read: KeyRecord, revokedTokens: string[], also: readonly Write[]): Promise<boolean> =>
      change(read.id, { revokedTokens }, all(exists, isStill('revokedTokens', read.revokedTokens)), also),

    /** Records a use, unless another one was recorded since the key was read. */
    async recordUse(read: KeyRecord, use: KeyUse): Promise<void> {
      await change(read.id, { ...use }, all(exists, isStill('lastUsedAt', read.lastUsedAt)), []);
    },
  };

  async function change(id: string, values: Item, condition: Condition, also: readonly Write[]): Promise<boolean> {
    return (await table.write([update(itemKey.key(id), values, condition), ...also])).length === 0;
  }
}

export type KeyStore = ReturnType<typeof apiKeys>;

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
export function keysWithProject(table: Table) {
  const projectIds = new Map<string, string>();
  return async (id: string): Promise<KeyWithProject | undefined> => {
    const known = projectIds.get(id);
    if (known !== undefined) {
      const [key, project] = await table.batchGet([itemKey.key(id), itemKey.project(known)]);
      return key && { ...(key as unknown as KeyRecord), project: project as ProjectRecord | undefined };
    }
    const key = (await table.get(itemKey.key(id))) as KeyRecord | undefined;
    if (!key) return undefined;
    if (projectIds.size >= MAX_KNOWN_KEYS) projectIds.clear();
    projectIds.set(id, key.projectId);
    return { ...key, project: (await table.get(itemKey.project(key.projectId))) as ProjectRecord | undefined };
  };
}

/** The key is neither rotated nor revoked, and its allowlist is still the one that the new key gets. */
const isAsRead = ({ cidrs }: KeyRecord): Condition =>
  all(isAbsent('replacedBy'), isAbsent('revokedAt'), is('cidrs', cidrs));
