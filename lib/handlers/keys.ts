import { isAllowed } from '../access/allowlist.ts';
import { hashApiKey, keyIdOf, newApiKey, sameHash } from '../access/api-key.ts';
import { isLasting, isUsable, type KeyRecord, keyResource, newKeyRecord, rotationExpiry } from '../access/keys.ts';
import { notFound, Problem } from '../api/problems.ts';
import { type CursorSecrets, page } from '../http/pagination.ts';
import type { BodyViolations } from '../http/request.ts';
import type { Handlers } from '../http/serve.ts';
import type { Random } from '../ids.ts';
import { isJsonObject } from '../json.ts';
import { check, timestampInput } from '../schema.ts';
import type { TransactionPart } from '../transaction.ts';

/** The keys of projects as they are stored. */
export interface Keys {
  /** Strongly consistent: what was revoked a moment ago is revoked. */
  get(id: string): Promise<KeyRecord | undefined>;
  /** In the order of creation, newest first. A key may take a moment to appear. */
  list(projectId: string, limit: number, after?: string): Promise<{ keys: KeyRecord[]; next: string | undefined }>;
  /** The admin keys of a project, newest first, read as they are asked for. A key may take a moment to appear. */
  adminKeys(projectId: string): AsyncGenerator<KeyRecord>;
  create(record: KeyRecord, also: readonly TransactionPart[]): Promise<void>;
  /** Adds the new key and ends the old one at `expiresAt`, unless it was rotated or revoked meanwhile: then `false`. */
  rotate(old: KeyRecord, fresh: KeyRecord, expiresAt: number, also: readonly TransactionPart[]): Promise<boolean>;
  /** `relyingOn`: another key that must still be as it was read. `false` if it is not. */
  revoke(id: string, revokedAt: number, relyingOn?: KeyRecord): Promise<boolean>;
  /** `relyingOn`: as for `revoke`. */
  setCidrs(id: string, cidrs: string[], relyingOn?: KeyRecord): Promise<boolean>;
}

export interface KeysDeps {
  keys: Keys;
  cursors: CursorSecrets;
  clock(): number;
  random: Random;
}

/** What is wrong with the expiry of a new key. */
export const keyViolations = (clock: () => number): { createKey: BodyViolations } => ({
  createKey(json) {
    const expiry = check(timestampInput, isJsonObject(json) ? json.expires_at : undefined);
    const isPast = 'value' in expiry && expiry.value <= clock();
    return isPast ? [{ field: 'expires_at', detail: 'must be in the future' }] : [];
  },
});

export function keyHandlers({ keys, cursors, clock, random }: KeysDeps): Handlers<'keys'> {
  return {
    async createKey({ body, space: { projectId } }, idempotencyWrites) {
      const now = clock();
      const { key, record } = generate(
        { projectId, type: body.type, name: body.name ?? null, expiresAt: body.expires_at },
        now,
      );
      const response = { body: { ...keyResource(record, now), key } };
      await keys.create(record, idempotencyWrites(response));
      return response;
    },

    listKeys: (request) =>
      page(request, cursors, async (limit, after) => {
        const found = await keys.list(request.space.projectId, limit, after);
        const now = clock();
        return { data: found.keys.map((record) => keyResource(record, now)), next: found.next };
      }),

    getKey: async ({ path, space }) => {
      const record = await ownKey(path.key, space.projectId);
      return record ? { body: keyResource(record, clock()) } : notFound('key');
    },

    async rotateKey({ path, space }, idempotencyWrites) {
      const old = await ownKey(path.key, space.projectId);
      if (!old) return notFound('key');
      const now = clock();
      const { projectId, type, name, cidrs } = old;
      const { key, record } = generate({ projectId, type, name, cidrs, replaces: old.id }, now);
      const response = { body: { ...keyResource(record, now), key } };
      const rotated =
        isUsable(old, now) &&
        !old.replacedBy &&
        (await keys.rotate(old, record, rotationExpiry(old, now), idempotencyWrites(response)));
      return rotated
        ? response
        : new Problem('conflict', 'Only an active key that has not been rotated can be rotated.');
    },

    async revokeKey({ path, space: { projectId } }) {
      const record = await ownKey(path.key, projectId);
      if (!record) return notFound('key');
      const now = clock();
      if (record.revokedAt !== undefined) return { body: keyResource(record, now) };
      const others = record.type === 'admin' && isLasting(record, now) ? lastingAdminKeys(record, now) : null;
      const isRevoked = await relyingOnOne(others, (other) => keys.revoke(record.id, now, other));
      return isRevoked
        ? { body: keyResource({ ...record, revokedAt: now }, now) }
        : new Problem('conflict', 'This is the last admin key without an expiry. Create another one first.');
    },

    // Nobody locks themselves out: an admin key that the caller may use from here must be left.
    async setAllowlist({ path, body: { cidrs }, space, address }) {
      const record = await ownKey(path.key, space.projectId);
      if (!record) return notFound('key');
      const now = clock();
      const isLeft = record.type !== 'admin' || (isLasting(record, now) && isAllowed(cidrs, address));
      const others = isLeft ? null : lastingAdminKeys(record, now, (other) => isAllowed(other.cidrs, address));
      const isSet = await relyingOnOne(others, (other) => keys.setCidrs(record.id, cidrs, other));
      return isSet
        ? { body: { id: record.id, cidrs } }
        : new Problem('conflict', `No admin key without an expiry would allow your address. Include ${address}.`);
    },

    async getAllowlist({ path, space }) {
      const record = await ownKey(path.key, space.projectId);
      return record ? { body: { id: record.id, cidrs: record.cidrs } } : notFound('key');
    },
  };

  // A whole key in the path must be the key itself, not one that shares its id.
  async function ownKey(given = '', projectId: string): Promise<KeyRecord | undefined> {
    const id = keyIdOf(given);
    const record = id ? await keys.get(id) : undefined;
    const isMeant = record && (given === id || sameHash(hashApiKey(given), record.hash));
    return isMeant && record.projectId === projectId ? record : undefined;
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

  /** The other admin keys of the project that work and have no end in sight. The index may be a moment behind. */
  async function* lastingAdminKeys(
    { id, projectId }: KeyRecord,
    now: number,
    admits: (key: KeyRecord) => boolean = () => true,
  ): AsyncGenerator<KeyRecord> {
    for await (const key of keys.adminKeys(projectId))
      if (key.id !== id && isLasting(key, now) && admits(key)) yield key;
  }
}

/** Makes a change that takes one of `others` to stay as it is, or none if they are `null`. `false` if no one does. */
async function relyingOnOne(
  others: AsyncGenerator<KeyRecord> | null,
  change: (other?: KeyRecord) => Promise<boolean>,
): Promise<boolean> {
  if (others === null) return change();
  for await (const other of others) if (await change(other)) return true;
  return false;
}
