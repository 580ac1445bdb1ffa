import { keyIdOf, newApiKey } from '../api-key.ts';
import type { ApiKeys } from '../aws/keys.ts';
import type { Clock } from '../aws/sources.ts';
import type { Handlers } from '../dispatch.ts';
import type { Random } from '../ids.ts';
import { isJsonObject } from '../json.ts';
import { isUsable, type KeyRecord, keyResource, newKeyRecord, rotationExpiry } from '../keys.ts';
import { type CursorSecrets, page } from '../paging.ts';
import { notFound, Refusal } from '../problem.ts';
import type { BodyFaults } from '../request.ts';
import { check, timestampInput } from '../schema.ts';

export interface KeysDeps {
  keys: ApiKeys;
  cursors: CursorSecrets;
  clock: Clock;
  random: Random;
}

/** What is wrong with the expiry of a new key. */
export const keyFaults = (clock: Clock): { createKey: BodyFaults } => ({
  createKey(json) {
    const expiry = check(timestampInput, isJsonObject(json) ? json.expires_at : undefined);
    const isPast = 'value' in expiry && expiry.value <= clock();
    return isPast ? [{ field: 'expires_at', detail: 'must be in the future' }] : [];
  },
});

export function keyHandlers({ keys, cursors, clock, random }: KeysDeps): Handlers<'keys'> {
  return {
    async createKey({ body, space: { projectId } }, completing) {
      const now = clock();
      const { key, record } = generate(
        { projectId, type: body.type, name: body.name ?? null, expiresAt: body.expires_at },
        now,
      );
      const reply = { body: { ...keyResource(record, now), key } };
      await keys.create(record, completing(reply));
      return reply;
    },

    listKeys: (request) =>
      page(request, cursors, async (limit, after) => {
        const found = await keys.list(request.space.projectId, limit, after);
        const now = clock();
        return {
          data: found.keys.map((record) => keyResource(record, now)),
          next: found.next && found.keys.at(-1)?.id,
        };
      }),

    getKey: async ({ path, space }) => {
      const record = await ownKey(path.key, space.projectId);
      return record ? { body: keyResource(record, clock()) } : notFound('key');
    },

    async rotateKey({ path, space }, completing) {
      const old = await ownKey(path.key, space.projectId);
      if (!old) return notFound('key');
      const now = clock();
      const { projectId, type, name, cidrs } = old;
      const { key, record } = generate({ projectId, type, name, cidrs, replaces: old.id }, now);
      const reply = { body: { ...keyResource(record, now), key } };
      const rotated =
        isUsable(old, now) &&
        !old.replacedBy &&
        (await keys.rotate(old, record, rotationExpiry(old, now), completing(reply)));
      return rotated
        ? reply
        : new Refusal('conflict', 'Only a key that works and was not rotated before can be rotated.');
    },

    async revokeKey({ path, space: { projectId } }) {
      const record = await ownKey(path.key, projectId);
      if (!record) return notFound('key');
      const now = clock();
      if (record.revokedAt !== undefined) return { body: keyResource(record, now) };
      const revoked = { body: keyResource({ ...record, revokedAt: now }, now) };
      if (record.type !== 'admin' || !isUsable(record, now)) {
        await keys.revoke(record.id, now);
        return revoked;
      }
      const other = await otherAdminKey(record, now);
      if (other && (await keys.revoke(record.id, now, { otherAdminKey: other, nowMs: now }))) return revoked;
      return new Refusal('conflict', 'This is the last admin key of the project that works: create another one first.');
    },

    async setAllowlist({ path, body, space }) {
      const record = await ownKey(path.key, space.projectId);
      if (!record) return notFound('key');
      await keys.setCidrs(record.id, body.cidrs);
      return { body: { id: record.id, cidrs: body.cidrs } };
    },

    async getAllowlist({ path, space }) {
      const record = await ownKey(path.key, space.projectId);
      return record ? { body: { id: record.id, cidrs: record.cidrs } } : notFound('key');
    },
  };

  async function ownKey(given: string | undefined, projectId: string): Promise<KeyRecord | undefined> {
    const id = keyIdOf(given ?? '');
    const record = id ? await keys.get(id) : undefined;
    return record?.projectId === projectId ? record : undefined;
  }

  function generate(like: Pick<KeyRecord, 'projectId' | 'type' | 'name'> & Partial<KeyRecord>, now: number) {
    const fresh = newApiKey(like.type, now, random);
    const { cidrs = [], expiresAt, replaces, projectId, name } = like;
    const tokenSecret = Buffer.from(random(32)).toString('base64url');
    return {
      key: fresh.key,
      record: newKeyRecord(fresh, { projectId, name, cidrs, expiresAt, replaces, tokenSecret, createdAt: now }),
    };
  }

  // The index may be a moment behind; whether the key found still works is checked again in the transaction.
  async function otherAdminKey({ id, projectId }: KeyRecord, now: number): Promise<string | undefined> {
    for (let after: string | undefined; ; ) {
      const { keys: some, next } = await keys.list(projectId, 100, after);
      const other = some.find((key) => key.type === 'admin' && key.id !== id && isUsable(key, now));
      if (other || !next) return other?.id;
      after = some.at(-1)?.id;
    }
  }
}
