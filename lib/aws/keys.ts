import type { KeyRecord } from '../keys.ts';
import { BY_PROJECT, type ItemKey, itemKey, setting, type Table, type Write } from './table.ts';

export interface KeyPage {
  keys: KeyRecord[];
  next: ItemKey | undefined;
}

/** `keysOf` puts the record into the index of its project. */
export function putKey(record: KeyRecord): Write {
  const Item = { ...itemKey.key(record.id), keysOf: record.projectId, ...record };
  return { Put: { Item, ConditionExpression: 'attribute_not_exists(pk)' } };
}

export type ApiKeys = ReturnType<typeof apiKeys>;

export function apiKeys(table: Table) {
  return {
    /** Strongly consistent: what was revoked a moment ago is revoked. */
    async get(id: string): Promise<KeyRecord | undefined> {
      return (await table.get(itemKey.key(id))) as KeyRecord | undefined;
    },

    /** In the order of creation, newest first. A key may take a moment to appear. */
    async list(projectId: string, limit: number, after?: string): Promise<KeyPage> {
      const { items, next } = await table.query({
        IndexName: BY_PROJECT,
        KeyConditionExpression: 'keysOf = :project',
        ExpressionAttributeValues: { ':project': projectId },
        ScanIndexForward: false,
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
      const end: Write = {
        Update: {
          Key: itemKey.key(old.id),
          ...setting({ replacedBy: fresh.id, expiresAt }),
          ConditionExpression:
            'attribute_exists(pk) AND attribute_not_exists(replacedBy) AND attribute_not_exists(revokedAt)',
        },
      };
      // The allowlist is carried over as it is in the very moment of the rotation, or not at all.
      const { Update } = end;
      Update.ConditionExpression += ' AND cidrs = :cidrs';
      Update.ExpressionAttributeValues = { ...Update.ExpressionAttributeValues, ':cidrs': old.cidrs };
      return (await table.write([end, putKey(fresh), ...also])).length === 0;
    },

    /** `unless`: an admin key that must still be usable, as the last one of a project may not go. `false` if it is not. */
    async revoke(id: string, revokedAt: number, unless?: { otherAdminKey: string; nowMs: number }): Promise<boolean> {
      const writes: Write[] = [
        { Update: { Key: itemKey.key(id), ...setting({ revokedAt }), ConditionExpression: 'attribute_exists(pk)' } },
      ];
      if (unless) {
        writes.push({
          ConditionCheck: {
            Key: itemKey.key(unless.otherAdminKey),
            ConditionExpression:
              'attribute_not_exists(revokedAt) AND (attribute_not_exists(expiresAt) OR expiresAt > :now)',
            ExpressionAttributeValues: { ':now': unless.nowMs },
          },
        });
      }
      return (await table.write(writes)).length === 0;
    },

    async setCidrs(id: string, cidrs: string[]): Promise<void> {
      await table.write([
        { Update: { Key: itemKey.key(id), ...setting({ cidrs }), ConditionExpression: 'attribute_exists(pk)' } },
      ]);
    },

    /** At most once per key and hour, whoever comes first. */
    async recordUse(id: string, hour: number): Promise<void> {
      const condition = 'attribute_exists(pk) AND (attribute_not_exists(lastUsedAt) OR lastUsedAt < :lastUsedAt)';
      await table.write([
        { Update: { Key: itemKey.key(id), ...setting({ lastUsedAt: hour }), ConditionExpression: condition } },
      ]);
    },
  };
}
