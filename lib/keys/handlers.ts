import { isDeepStrictEqual } from 'node:util';
import { auditing } from '../audit/store.ts';
import type { Backend } from '../aws/backend.ts';
import { adminKeyCreated, adminKeyRotated, notifying } from '../emails/notices.ts';
import { projectEmails } from '../emails/send.ts';
import { page } from '../http/page.ts';
import { notFound, Problem } from '../http/problems.ts';
import type { BodyViolations, Request } from '../http/request.ts';
import type { Handlers } from '../http/serve.ts';
import { isJsonObject } from '../json.ts';
import { cursorsOf } from '../projects/cursors.ts';
import { check, iso, isoOrNull, timestampInput } from '../schema.ts';
import { isAllowed } from './allowlist.ts';
import { generateKey, isKept, isLasting, isUsable, type KeyRecord, keyResource, rotationExpiry } from './key.ts';
import { hashApiKey, keyIdOf, sameText } from './key-secret.ts';
import { lastingAdminKeys, relyingOnOne, revokeSafely } from './last-admin-key.ts';
import type { keyOperations } from './operations.ts';
import { apiKeys } from './store.ts';
import { MAX_USABLE_KEYS } from './usable-keys.ts';
import { keyUsage } from './usage.ts';

const notRotatable = () => new Problem('conflict', 'Use an active key that has not been rotated.');

const lastAdminKey = () =>
  new Problem('conflict', 'Create another admin key first. This is the last one without an expiry.');

const tooManyKeys = (action: string) =>
  new Problem(
    'limit_reached',
    `${action} A project can have at most ${MAX_USABLE_KEYS} keys that are neither revoked nor expired.`,
  );

/** The violations of the expiry of a new key. */
export function keyViolations(clock: () => number): { createKey: BodyViolations; rotateKey: BodyViolations } {
  const ofExpiry: BodyViolations = (json) => {
    const expiry = check(timestampInput, isJsonObject(json) ? json.expires_at : undefined);
    const isPast = 'value' in expiry && expiry.value <= clock();
    return isPast ? [{ field: 'expires_at', detail: 'must be in the future' }] : [];
  };
  return { createKey: ofExpiry, rotateKey: ofExpiry };
}

export function keyHandlers(backend: Backend): Handlers<typeof keyOperations> {
  const { table, clock, random } = backend;
  const keys = apiKeys(table);
  const cursors = cursorsOf(table, random);
  const audited = auditing(backend);
  const notify = notifying(projectEmails(backend), backend.reportFailure);

  return {
    async createKey(request, idempotencyWrites) {
      const { body, space } = request;
      const now = clock();
      const { type, name = null, expires_at: expiresAt } = body;
      const { key, record } = generateKey({ projectId: space.projectId, type, name, expiresAt }, now, random);
      const response = { body: { ...keyResource(record, now), key } };
      const detail = { type: record.type, name: record.name, expires_at: isoOrNull(record.expiresAt) };
      const entry = audited(request, { at: now, action: 'key.created', target: record.id, detail });
      const notice = record.type === 'admin' ? adminKeyCreated(record) : null;
      const also = [...idempotencyWrites(response), entry];
      return notify(request, now, notice, async () => {
        const isCreated = await keys.create(record, now, also);
        return isCreated ? response : tooManyKeys('Revoke a key first.');
      });
    },

    listKeys: (request) =>
      page(request, cursors, async (limit, after) => {
        const listed = await keys.list(request.space.projectId, limit, after);
        const now = clock();
        const kept = listed.keys.filter((record) => isKept(record, now)); // because the database deletes late
        return { data: kept.map((record) => keyResource(record, now)), next: listed.next };
      }),

    getKey: ofOwnKey(async (record) => ({ body: keyResource(record, clock()) })),

    getKeyUsage: ofOwnKey(async (record) => ({ body: keyUsage(record, clock()) })),

    changeKey: ofOwnKey(async (record, request) => {
      const { body } = request;
      const now = clock();
      if (body.name === record.name) return { body: keyResource(record, now) };
      const entry = audited(request, { at: now, action: 'key.changed', target: record.id, detail: body });
      const isRenamed = await keys.rename(record.id, body.name, [entry]);
      return isRenamed ? { body: keyResource({ ...record, name: body.name }, now) } : notFound('key');
    }),

    rotateKey: ofOwnKey(async (old, request, idempotencyWrites) => {
      const { body, caller } = request;
      const now = clock();
      const { projectId, type, name, cidrs } = old;
      const newExpiry = body.expires_at === undefined ? old.expiresAt : (body.expires_at ?? undefined);
      const inherited = { projectId, type, name, cidrs, expiresAt: newExpiry };
      const { key, record } = generateKey({ ...inherited, replaces: old.id }, now, random);
      const response = { body: { ...keyResource(record, now), key } };
      const expiresAt = rotationExpiry(old, now, body.grace_seconds);
      const detail = { replaced_by: record.id, expires_at: iso(expiresAt) };
      const entry = audited(request, { at: now, action: 'key.rotated', target: old.id, detail });
      if (!isUsable(old, now) || old.replacedBy) return notRotatable();
      // The new key takes the place of an admin key without an expiry, unless the body gives it one.
      const isCountedOn = type === 'admin' && isLasting(old, now) && !isLasting(record, now);
      const others = () => (isCountedOn ? lastingAdminKeys(keys, old, now, caller.keyId) : null);
      if (!(await relyingOnOne(keys, others(), async () => true))) return lastAdminKey();
      const notice = type === 'admin' ? adminKeyRotated(old, record) : null;
      const also = [...idempotencyWrites(response), entry];
      return notify(request, now, notice, async () => {
        const isRotated = await relyingOnOne(keys, others(), (condition) =>
          keys.rotate(old, record, expiresAt, now, [...condition, ...also]),
        );
        if (isRotated === 'full') return tooManyKeys('Revoke a key first, or rotate with grace_seconds 0.');
        return isRotated ? response : notRotatable();
      });
    }),

    revokeKey: ofOwnKey(async (record, request) => {
      const now = clock();
      const entry = audited(request, { at: now, action: 'key.revoked', target: record.id });
      const revoked = await revokeSafely(keys, record, now, [entry], request.caller.keyId);
      return revoked ? { body: keyResource(revoked, now) } : lastAdminKey();
    }),

    // Prevents a lockout. If the list excludes the caller, another admin key must allow the address and have no expiry.
    setAllowlist: ofOwnKey(async (record, request) => {
      const { address, caller } = request;
      const { cidrs } = request.body;
      if (isDeepStrictEqual(cidrs, record.cidrs)) return { body: { id: record.id, cidrs } };
      const now = clock();
      const isExcluding = record.type === 'admin' && !isAllowed(cidrs, address);
      const admits = (other: KeyRecord) => isAllowed(other.cidrs, address);
      const others = isExcluding ? lastingAdminKeys(keys, record, now, caller.keyId, admits) : null;
      const detail = { cidrs };
      const entry = audited(request, { at: now, action: 'key.allowlist_set', target: record.id, detail });
      const isSet = await relyingOnOne(keys, others, (condition) =>
        keys.setCidrs(record, cidrs, [...condition, entry]),
      );
      return isSet
        ? { body: { id: record.id, cidrs } }
        : new Problem('conflict', `Include ${address}. No other admin key without an expiry allows your address.`);
    }),

    getAllowlist: ofOwnKey(async ({ id, cidrs }) => ({ body: { id, cidrs } })),
  };

  /** Handles a request about a key of its project. A complete key in the path must match the stored hash, not only the id. */
  function ofOwnKey<Sent extends Request<unknown, unknown, 'key'>, Rest extends unknown[], Response>(
    handle: (record: KeyRecord, request: Sent, ...rest: Rest) => Promise<Response>,
  ) {
    return async (request: Sent, ...rest: Rest): Promise<Response | Problem> => {
      const { path, space } = request;
      const input = path.key;
      const id = keyIdOf(input);
      const record = id ? await keys.get(id) : undefined;
      const isMeant = record && (input === id || sameText(hashApiKey(input), record.hash));
      const isOwn = record?.projectId === space.projectId && isKept(record, clock());
      return isMeant && isOwn ? handle(record, request, ...rest) : notFound('key');
    };
  }
}
