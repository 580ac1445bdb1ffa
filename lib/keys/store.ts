import { all, type Condition, check, exists, is, isAbsent, isNew, isStill, put, update } from '../aws/expressions.ts';
import { type Item, itemKey } from '../aws/items.ts';
import { filtered } from '../aws/queries.ts';
import type { Table } from '../aws/table.ts';
import type { Write } from '../aws/writes.ts';
import { BY_PROJECT } from '../deployment.ts';
import type { ProjectRecord } from '../projects/project.ts';
import type { KeyRecord } from './key.ts';
import type { KeyUse } from './usage.ts';

/** `keysOf` puts the record into the index of its project. */
export const putKey = (record: KeyRecord): Write =>
  put({ ...itemKey.key(record.id), keysOf: record.projectId, ...record }, isNew);

const ofProject = (projectId: string) => ({
  IndexName: BY_PROJECT,
  KeyConditionExpression: 'keysOf = :project',
  ExpressionAttributeValues: { ':project': projectId },
  ScanIndexForward: false,
});

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
      const admins = filtered(ofProject(projectId), is('type', 'admin'));
      for (const ScanIndexForward of [false, true]) {
        const { items, next } = await table.queryPages({ ...admins, ScanIndexForward }, Number.POSITIVE_INFINITY);
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
        ...ofProject(projectId),
        Limit: limit,
        after: after === undefined ? undefined : { ...itemKey.key(after), keysOf: projectId },
      });
      const keys = items as unknown as KeyRecord[];
      return { keys, next: next && keys.at(-1)?.id };
    },

    async create(record: KeyRecord, also: readonly Write[]): Promise<void> {
      if ((await table.write([putKey(record), ...also])).length > 0) throw new Error('The new key id is taken');
    },

    /** Adds the new key and ends the old one at `expiresAt`. `false` if the old key has been rotated or revoked. `relyingOn`: as for `revoke`. */
    async rotate(
      old: KeyRecord,
      fresh: KeyRecord,
      expiresAt: number,
      relyingOn: KeyRecord | undefined,
      also: readonly Write[],
    ): Promise<boolean> {
      const change = { replacedBy: fresh.id, expiresAt };
      return changeKey(old.id, change, relyingOn, [putKey(fresh), ...also], isAsRead(old));
    },

    /** `false` if there is no such key. */
    async rename(id: string, name: string | null, also: readonly Write[]): Promise<boolean> {
      return changeKey(id, { name }, undefined, also);
    },

    /**
     * `relyingOn` is another key that must not have changed since it was read. Returns `false` if it has, or if the key is already
     * revoked.
     */
    async revoke(
      id: string,
      revokedAt: number,
      relyingOn: KeyRecord | undefined,
      also: readonly Write[],
    ): Promise<boolean> {
      return changeKey(id, { revokedAt }, relyingOn, also, all(exists, isAbsent('revokedAt')));
    },

    /** `relyingOn`: as for `revoke`. */
    async setCidrs(
      id: string,
      cidrs: string[],
      relyingOn: KeyRecord | undefined,
      also: readonly Write[],
    ): Promise<boolean> {
      return changeKey(id, { cidrs }, relyingOn, also);
    },

    /** Replaces the revoked tokens that were read. `false` if another request has changed them since. */
    async setRevokedTokens(read: KeyRecord, revokedTokens: string[], also: readonly Write[]): Promise<boolean> {
      const asRead = all(exists, isStill('revokedTokens', read.revokedTokens));
      return (await table.write([update(itemKey.key(read.id), { revokedTokens }, asRead), ...also])).length === 0;
    },

    /** Records a use, unless another one was recorded since the key was read. */
    async recordUse(read: KeyRecord, use: KeyUse): Promise<void> {
      const asRead = all(exists, isStill('lastUsedAt', read.lastUsedAt));
      await table.write([update(itemKey.key(read.id), { ...use }, asRead)]);
    },
  };

  async function changeKey(
    id: string,
    change: Item,
    relyingOn: KeyRecord | undefined,
    also: readonly Write[],
    condition = exists,
  ): Promise<boolean> {
    const others = relyingOn ? [check(itemKey.key(relyingOn.id), isLastingStill(relyingOn))] : [];
    return (await table.write([update(itemKey.key(id), change, condition), ...others, ...also])).length === 0;
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
  all(exists, isAbsent('replacedBy'), isAbsent('revokedAt'), is('cidrs', cidrs));

/** The condition that the key still works without an expiry, from the same addresses. */
const isLastingStill = ({ cidrs }: KeyRecord): Condition =>
  all(isAbsent('revokedAt'), isAbsent('expiresAt'), is('cidrs', cidrs));
