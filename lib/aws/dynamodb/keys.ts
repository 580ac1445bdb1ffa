import type { KeyRecord } from '../../access/keys.ts';
import { BY_PROJECT, type Item, type ItemKey, itemKey, setting, type Table, type Write } from './table.ts';

export interface KeyPage {
  keys: KeyRecord[];
  next: ItemKey | undefined;
}

/** `keysOf` puts the record into the index of its project. */
export function putKey(record: KeyRecord): Write {
  const Item = { ...itemKey.key(record.id), keysOf: record.projectId, ...record };
  return { Put: { Item, ConditionExpression: 'attribute_not_exists(pk)' } };
}

const ofProject = (projectId: string) => ({
  IndexName: BY_PROJECT,
  KeyConditionExpression: 'keysOf = :project',
  ExpressionAttributeValues: { ':project': projectId },
  ScanIndexForward: false,
});

export type ApiKeys = ReturnType<typeof apiKeys>;

export function apiKeys(table: Table) {
  return {
    /** Strongly consistent: what was revoked a moment ago is revoked. */
    async get(id: string): Promise<KeyRecord | undefined> {
      return (await table.get(itemKey.key(id))) as KeyRecord | undefined;
    },

    /** The admin keys of a project, newest first, read as they are asked for. A key may take a moment to appear. */
    async *adminKeys(projectId: string): AsyncGenerator<KeyRecord> {
      let after: object | undefined;
      do {
        const { items, next } = await table.query({
          ...ofProject(projectId),
          FilterExpression: '#type = :admin',
          ExpressionAttributeNames: { '#type': 'type' },
          ExpressionAttributeValues: { ':project': projectId, ':admin': 'admin' },
          after,
        });
        yield* items as unknown as KeyRecord[];
        after = next;
      } while (after !== undefined);
    },

    /** In the order of creation, newest first. A key may take a moment to appear. */
    async list(projectId: string, limit: number, after?: string): Promise<KeyPage> {
      const { items, next } = await table.query({
        ...ofProject(projectId),
        Limit: limit,
        after: after === undefined ? undefined : { ...itemKey.key(after), keysOf: projectId },
      });
      return { keys: items as unknown as KeyRecord[], next };
    },

    async create(record: KeyRecord, also: Write[]): Promise<void> {
      if ((await table.write([putKey(record), ...also])).length > 0) throw new Error('The new key id is taken');
    },

    /** Adds the new key and ends the old one at `expiresAt`, unless it was rotated or revoked meanwhile: then `false`. */
    async rotate(old: KeyRecord, fresh: KeyRecord, expiresAt: number, also: Write[]): Promise<boolean> {
      const update = setting({ replacedBy: fresh.id, expiresAt });
      const isUnrotated = 'attribute_not_exists(replacedBy) AND attribute_not_exists(revokedAt)';
      const end: Write = {
        Update: {
          Key: itemKey.key(old.id),
          ...update,
          // The allowlist is carried over as it is in the very moment of the rotation, or not at all.
          ConditionExpression: `attribute_exists(pk) AND ${isUnrotated} AND cidrs = :cidrs`,
          ExpressionAttributeValues: { ...update.ExpressionAttributeValues, ':cidrs': old.cidrs },
        },
      };
      return (await table.write([end, putKey(fresh), ...also])).length === 0;
    },

    /** `relyingOn`: another key that must still be as it was read. `false` if it is not. */
    async revoke(id: string, revokedAt: number, relyingOn?: KeyRecord): Promise<boolean> {
      return changeKey(id, { revokedAt }, relyingOn);
    },

    /** `relyingOn`: as for `revoke`. */
    async setCidrs(id: string, cidrs: string[], relyingOn?: KeyRecord): Promise<boolean> {
      return changeKey(id, { cidrs }, relyingOn);
    },

    /** At most once per key and hour, whoever comes first. */
    async recordUse(id: string, hour: number): Promise<void> {
      const condition = 'attribute_exists(pk) AND (attribute_not_exists(lastUsedAt) OR lastUsedAt < :lastUsedAt)';
      await table.write([
        { Update: { Key: itemKey.key(id), ...setting({ lastUsedAt: hour }), ConditionExpression: condition } },
      ]);
    },
  };

  async function changeKey(id: string, change: Item, relyingOn: KeyRecord | undefined): Promise<boolean> {
    const update: Write = {
      Update: { Key: itemKey.key(id), ...setting(change), ConditionExpression: 'attribute_exists(pk)' },
    };
    return (await table.write([update, ...(relyingOn ? [isUnchanged(relyingOn)] : [])])).length === 0;
  }
}

/** Still works without an end, from the same addresses. */
const isUnchanged = ({ id, cidrs }: KeyRecord): Write => ({
  ConditionCheck: {
    Key: itemKey.key(id),
    ConditionExpression: 'attribute_not_exists(revokedAt) AND attribute_not_exists(expiresAt) AND cidrs = :cidrs',
    ExpressionAttributeValues: { ':cidrs': cidrs },
  },
});
