import {
  all,
  any,
  type Condition,
  conditionCheck,
  exists,
  hasFewerThan,
  is,
  isAbsent,
  isNew,
  isPresent,
  isStill,
  put,
  update,
} from '../aws/expressions.ts';
import { type Item, itemKey, timeToLive } from '../aws/items.ts';
import { keysQuery } from '../aws/queries.ts';
import type { Table } from '../aws/table.ts';
import type { Write } from '../aws/writes.ts';
import type { ProjectRecord } from '../projects/project.ts';
import { type KeyRecord, keptUntil } from './key.ts';
import type { Rotation } from './rotation.ts';
import { changeListed, listed } from './token-keys-store.ts';
import { lastingAdminIds, MAX_USABLE_KEYS, usableKey } from './usable-keys.ts';
import { changeUsable, usableKeysOf, withPlace } from './usable-keys-store.ts';
import type { KeyUse } from './usage.ts';

/** Keys in one read. */
const BATCH = 100;

/** When the table removes a key that ends. */
function expiry(lifetime: Parameters<typeof keptUntil>[0]): { expires: number | undefined } {
  const until = keptUntil(lifetime);
  return { expires: until === undefined ? undefined : timeToLive(until) };
}

/** `keysOf` puts the record into the index of its project. */
const putKey = (record: KeyRecord): Write[] => [
  put({ ...itemKey.key(record.id), keysOf: record.projectId, ...record, ...expiry(record) }, isNew),
  ...listed(record),
];

/** The writes of the first key of a new project. */
export const putFirstKey = (record: KeyRecord): Write[] => [
  ...putKey(record),
  put({ ...itemKey.usableKeys(record.projectId), usable: { [record.id]: usableKey(record) } }, isNew),
];

/** The keys of all projects. */
export function apiKeys(table: Table) {
  return {
    /** Strongly consistent, so a revocation applies immediately. */
    async get(id: string): Promise<KeyRecord | undefined> {
      return (await table.get(itemKey.key(id))) as KeyRecord | undefined;
    },

    /** The admin keys of a project without an expiry, newest first, read on demand. Strongly consistent. */
    async *adminKeys(projectId: string): AsyncGenerator<KeyRecord> {
      const ids = lastingAdminIds(await usableKeysOf(table, projectId));
      for (let i = 0; i < ids.length; i += BATCH) {
        const items = await table.batchGet(ids.slice(i, i + BATCH).map((id) => itemKey.key(id)));
        for (const item of items) if (item) yield item as unknown as KeyRecord;
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

    /** `false` if the project has `max` usable keys. */
    async create(record: KeyRecord, nowMs: number, also: readonly Write[], max = MAX_USABLE_KEYS): Promise<boolean> {
      const { projectId, id } = record;
      const added = changeUsable(projectId, { [id]: usableKey(record) }, hasFewerThan('usable', max));
      const outcome = await withPlace(table, projectId, nowMs, async () => {
        const [rejected] = await table.write([added, ...putKey(record), ...also]);
        if (!rejected) return true;
        if (rejected.index === 0) return 'full';
        throw new Error('The new key id is taken');
      });
      return outcome === true;
    },

    /**
     * Adds the new key and the end of the old one. `false` if the old key has been rotated or revoked. `full`: the project
     * has the maximum number of usable keys. An old key that ends now gives its place to the new one.
     */
    rotate(
      { old, record: fresh, endsAt: expiresAt }: Pick<Rotation, 'old' | 'record' | 'endsAt'>,
      nowMs: number,
      also: readonly Write[],
    ): Promise<boolean | 'full'> {
      const isReplaced = expiresAt <= nowMs;
      const hasPlace = hasFewerThan('usable', MAX_USABLE_KEYS);
      const entries = { [fresh.id]: usableKey(fresh), [old.id]: isReplaced ? undefined : expiresAt };
      const isAllowed = isReplaced ? any(isPresent(`usable.${old.id}`), hasPlace) : hasPlace;
      const writes = [
        changeUsable(old.projectId, entries, isAllowed),
        update(itemKey.key(old.id), { replacedBy: fresh.id, expiresAt, ...expiry({ expiresAt }) }, isAsRead(old)),
        ...changeListed(old, { expiresAt }, nowMs),
        ...putKey(fresh),
        ...also,
      ];
      return withPlace(table, old.projectId, nowMs, async () => {
        const rejected = await table.write(writes);
        if (rejected.length === 0) return true;
        return rejected.every(({ index }) => index === 0) && 'full';
      });
    },

    /** `false` if there is no such key. */
    rename: (id: string, name: string | null, also: readonly Write[]): Promise<boolean> =>
      change(id, { name }, exists, also),

    /** `false` if the key is already revoked. */
    revoke(record: KeyRecord, revokedAt: number, also: readonly Write[]): Promise<boolean> {
      const { id, projectId, expiresAt } = record;
      const values = { revokedAt, ...expiry({ revokedAt, expiresAt }) };
      const freed = changeUsable(projectId, { [id]: undefined }, exists);
      return change(id, values, all(exists, isAbsent('revokedAt')), [
        freed,
        ...changeListed(record, { revokedAt }, revokedAt),
        ...also,
      ]);
    },

    setCidrs: (read: KeyRecord, cidrs: string[], also: readonly Write[]): Promise<boolean> =>
      change(read.id, { cidrs }, exists, [...changeListed(read, { cidrs }, table.now()), ...also]),

    /** The condition that a key still works without an expiry, from the same addresses, for the change of another key. */
    stillLasting: ({ id, cidrs }: KeyRecord): Write =>
      conditionCheck(itemKey.key(id), all(isAbsent('revokedAt'), isAbsent('expiresAt'), is('cidrs', cidrs))),

    /** Replaces the revoked tokens that were read. `false` if another request has changed them since. */
    setRevokedTokens: (read: KeyRecord, revokedTokens: string[], also: readonly Write[]): Promise<boolean> =>
      change(read.id, { revokedTokens }, all(exists, isStill('revokedTokens', read.revokedTokens)), [
        ...changeListed(read, { revokedTokens }, table.now()),
        ...also,
      ]),

    /** Records a use, unless another one was recorded since the key was read. */
    async recordUse(read: KeyRecord, use: KeyUse): Promise<void> {
      await change(read.id, { ...use }, all(exists, isStill('lastUsedAt', read.lastUsedAt)), []);
    },

    /** Records a rejected request, unless another one was recorded since the key was read. */
    async recordRejection(read: KeyRecord, lastRejected: KeyRecord['lastRejected']): Promise<void> {
      await change(read.id, { lastRejected }, all(exists, isStill('lastRejected', read.lastRejected)), []);
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
