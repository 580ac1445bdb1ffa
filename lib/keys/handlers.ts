import { isDeepStrictEqual } from 'node:util';
import { auditing } from '../audit/store.ts';
import type { Backend } from '../aws/backend.ts';
import type { Write } from '../aws/writes.ts';
import { keyCreated, keyRotated, notifying } from '../emails/notices.ts';
import { projectEmails } from '../emails/send.ts';
import { page } from '../http/page.ts';
import { notFound, Problem } from '../http/problems.ts';
import type { BodyViolations, Request } from '../http/request.ts';
import type { Handlers } from '../http/serve.ts';
import { cursorsOf } from '../projects/cursors.ts';
import { iso, isoOrNull } from '../schema.ts';
import { expiryViolations, generateKey, isKept, isNamedBy, type KeyRecord, keyResource } from './key.ts';
import { keyIdOf } from './key-secret.ts';
import { restrictSafely, revokeSafely, rotateSafely } from './last-admin-key.ts';
import type { keyOperations } from './operations.ts';
import { rotation } from './rotation.ts';
import { apiKeys } from './store.ts';
import { MAX_USABLE_KEYS } from './usable-keys.ts';
import { keyUsage } from './usage.ts';

const notRotatable = () => new Problem('conflict', 'Use an active key that has not been rotated.');

const lastAdminKey = () =>
  new Problem('conflict', 'Create another admin key first. This is the last one without an expiry.');

const excluded = (address: string) =>
  new Problem('conflict', `Include ${address}. No other admin key without an expiry allows your address.`);

const tooManyKeys = (action: string) =>
  new Problem(
    'limit_reached',
    `${action} A project can have at most ${MAX_USABLE_KEYS} keys that are neither revoked nor expired.`,
  );

/** The violations of the expiry of a new key. */
export function keyViolations(clock: () => number): { createKey: BodyViolations; rotateKey: BodyViolations } {
  const ofExpiry: BodyViolations = (json) => expiryViolations(json, clock());
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
      const also = [...idempotencyWrites(response), entry];
      return notify(request, now, keyCreated(record), async () => {
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
      const now = clock();
      const made = rotation(old, request.body, now, random);
      if (!made) return notRotatable();
      const { key, record, endsAt } = made;
      const response = { body: { ...keyResource(record, now), key } };
      const detail = { replaced_by: record.id, expires_at: iso(endsAt) };
      const entry = audited(request, { at: now, action: 'key.rotated', target: old.id, detail });
      const change = changeOf(request, now, [...idempotencyWrites(response), entry]);
      return notify(request, now, keyRotated(old, record), async () => {
        const outcome = await rotateSafely(keys, made, change);
        return outcome === true ? response : rotationProblem(outcome);
      });
    }),

    revokeKey: ofOwnKey(async (record, request) => {
      const now = clock();
      const entry = audited(request, { at: now, action: 'key.revoked', target: record.id });
      const revoked = await revokeSafely(keys, record, changeOf(request, now, [entry]));
      return revoked ? { body: keyResource(revoked, now) } : lastAdminKey();
    }),

    // Prevents a lockout. If the list excludes the caller, another admin key must allow the address and have no expiry.
    setAllowlist: ofOwnKey(async (record, request) => {
      const { address, body } = request;
      const { cidrs } = body;
      const response = { body: { id: record.id, cidrs } };
      if (isDeepStrictEqual(cidrs, record.cidrs)) return response;
      const now = clock();
      const entry = audited(request, { at: now, action: 'key.allowlist_set', target: record.id, detail: { cidrs } });
      const isSet = await restrictSafely(keys, record, cidrs, changeOf(request, now, [entry]));
      return isSet ? response : excluded(address);
    }),

    getAllowlist: ofOwnKey(async ({ id, cidrs }) => ({ body: { id, cidrs } })),
  };

  /** Handles a request about a key of its project. */
  function ofOwnKey<Sent extends Request<unknown, unknown, 'key'>, Rest extends unknown[], Response>(
    handle: (record: KeyRecord, request: Sent, ...rest: Rest) => Promise<Response>,
  ) {
    return async (request: Sent, ...rest: Rest): Promise<Response | Problem> => {
      const { path, space } = request;
      const id = keyIdOf(path.key);
      const record = id ? await keys.get(id) : undefined;
      const isOwn = record?.projectId === space.projectId && isKept(record, clock());
      return isOwn && isNamedBy(path.key, record) ? handle(record, request, ...rest) : notFound('key');
    };
  }
}

const changeOf = ({ caller, address }: Pick<Request, 'caller' | 'address'>, now: number, also: readonly Write[]) => ({
  now,
  also,
  callerKeyId: caller.keyId,
  address,
});

function rotationProblem(outcome: false | 'full' | 'alone'): Problem {
  if (outcome === 'alone') return lastAdminKey();
  return outcome === 'full' ? tooManyKeys('Revoke a key first, or rotate with grace_seconds 0.') : notRotatable();
}
