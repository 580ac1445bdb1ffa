import { randomBytes as random } from 'node:crypto';
import { crc32 } from 'node:zlib';
import type { APIGatewayRequestAuthorizerEvent } from 'aws-lambda';
import { describe, expect, it, vi } from 'vitest';
import { create } from '../../../functions/authorizer.ts';
import { put } from '../../../lib/aws/expressions.ts';
import { itemKey } from '../../../lib/aws/items.ts';
import { signSession } from '../../../lib/keys/dashboard-session.ts';
import { generateKey, type KeyRecord } from '../../../lib/keys/key.ts';
import { encodeBase62 } from '../../../lib/keys/key-format.ts';
import { type Grant, signToken } from '../../../lib/keys/token.ts';
import type { ProjectRecord } from '../../../lib/projects/project.ts';
import { shareKeyOf } from '../../../lib/projects/project.ts';
import { memoryBackend } from '../../support/memory-table.ts';
import { VARIABLES } from '../../support/runtime.ts';

const now = Date.UTC(2026, 0, 31, 12);
const STAGE = 'arn:aws:execute-api:eu-central-1:111122223333:api/live';

interface Asked {
  method: string;
  resource: string;
  /** Returns the headers of a caller with a key. */
  headers?: (key: string, record: KeyRecord) => Record<string, string[]> | Promise<Record<string, string[]>>;
  /** Receives the name of each command to the table. It can throw. */
  command?: (name: string) => void;
  /** Whether the event has only the documented `headers`. */
  isDocumented?: boolean;
}

/** The lines that the last request logged. */
const logged: unknown[] = [];
const warned: unknown[] = [];

/** The record of the last key after its request. */
let recorded: Partial<KeyRecord>;

/** Authorizes a request with a live key, and returns the policy and the recorded use. */
async function authorized(
  { method, resource, headers = (key) => ({ Authorization: [`Bearer ${key}`] }), command, isDocumented = false }: Asked,
  overrides: Partial<KeyRecord> = {},
  project: Partial<ProjectRecord> | null = {},
) {
  let isReady = false;
  logged.length = 0;
  warned.length = 0;
  const into =
    (lines: unknown[]) =>
    (...line: unknown[]) =>
      void lines.push(line);
  const log = { info: into(logged), warn: into(warned), error() {} };
  const { runtime, table } = memoryBackend({ clock: () => now, log }, ({ name }) => {
    if (isReady) command?.(name);
    return undefined;
  });
  const { key, record } = generateKey({ projectId: 'prj_1', type: 'live', name: null, ...overrides }, now, random);
  const stored = { id: 'prj_1', name: 'Acme', emails: [], cursorSecret: 'secret', createdAt: now, ...project };
  await table.write([put({ ...itemKey.key(record.id), ...record })]);
  if (project) await table.write([put({ ...itemKey.project('prj_1'), ...stored })]);
  isReady = true;
  const multiValueHeaders = await headers(key, record);
  const lines = Object.entries(multiValueHeaders).map(([name, [line]]) => [name, line]);
  const request = {
    httpMethod: method,
    resource,
    methodArn: `${STAGE}/${method}${resource.replace(/\{.*\}/, 'id')}`,
    ...(isDocumented ? { headers: Object.fromEntries(lines) } : { multiValueHeaders }),
    requestContext: { requestId: 'request-1', identity: { sourceIp: '192.0.2.1' } },
  } as unknown as APIGatewayRequestAuthorizerEvent;
  const { policyDocument, usageIdentifierKey, context } = await create(runtime)(request).finally(async () => {
    isReady = false;
    recorded = (await table.get(itemKey.key(record.id))) ?? {};
  });
  const { lastUsedAt, activeHours } = recorded;
  const use = { lastUsedAt, activeHours };
  return { id: record.id, statement: policyDocument.Statement[0], use, usageIdentifierKey, context };
}

const read = { method: 'GET', resource: '/v1/documents/{key}' };

describe('an allowed request', () => {
  it('allows only its own method and path, because the gateway can cache the policy', async () => {
    const { statement, usageIdentifierKey } = await authorized(read);
    expect(statement).toMatchObject({
      Effect: 'Allow',
      Resource: [`${STAGE}/GET/v1/documents/*`, `${STAGE}/GET/v1/documents/*/`],
    });
    expect(usageIdentifierKey).toBe(shareKeyOf(VARIABLES.SHARE_PREFIX, 'prj_1'));
  });

  it.each([
    ['has used no budget of deliveries', undefined, undefined],
    ['has used the budget of a minute', now + 60_000, undefined],
    ['has used more than that', now + 90_001, '31'],
  ])('passes on when its project can publish again: a project that %s', async (_, deliveriesUsedUntil, expected) => {
    const { statement, context } = await authorized(read, {}, { deliveriesUsedUntil });
    expect([statement?.Effect, context?.publish_after]).toEqual(['Allow', expected]);
  });

  it.each(['Bearer ', 'Bearer  ', 'BEARER    ', 'bearer '])('can have the scheme "%s"', async (scheme) => {
    const headers = (key: string) => ({ Authorization: [`${scheme}${key}`] });
    expect((await authorized({ ...read, headers })).statement?.Effect).toBe('Allow');
  });

  it('can have its credential in the members that the Developer Guide documents', async () => {
    expect((await authorized({ ...read, isDocumented: true })).statement?.Effect).toBe('Allow');
    const headers = (key: string) => ({ Authorization: [`Bearer ${key}, Bearer ${key}`] });
    await expect(authorized({ ...read, headers, isDocumented: true })).rejects.toThrow('Unauthorized');
  });

  it('is allowed even if its use cannot be recorded, and with any case of its header and scheme', async () => {
    const headers = (key: string) => ({ authorization: [`bearer ${key}`] });
    const command = (name: string) => {
      if (name === 'Update') throw new Error('throttled');
    };
    const { id, statement, use } = await authorized({ ...read, headers, command });
    expect(use).toEqual({});
    expect(statement?.Effect).toBe('Allow');
    expect(warned).toEqual([['key.use_not_recorded', { key_id: id, error: expect.any(Error) }]]);
  });
});

it('fails if the key cannot be read, because only an invalid credential is a 401', async () => {
  const command = () => {
    throw new Error('throttled');
  };
  await expect(authorized({ ...read, command })).rejects.toThrow('throttled');
});

describe('a request without one well-formed credential', () => {
  it.each<[string, (key: string) => string[]]>([
    ['no header', () => []],
    ['no scheme', (key) => [key]],
    ['another scheme', (key) => [`Basic ${key}`]],
    ['no space', (key) => [`Bearer${key}`]],
    ['a tab', (key) => [`Bearer\t${key}`]],
    ['a longer key', (key) => [`Bearer ${key}x`]],
    ['an unknown type of key', (key) => [`Bearer ${key.replace('live', 'prod')}`]],
    ['two headers', (key) => [`Bearer ${key}`, `Bearer ${key}`]],
    ['two credentials', (key) => [`Bearer ${key},Bearer ${key}`]],
  ])('is rejected without a read: %s', async (_, authorization) => {
    const command = vi.fn();
    const headers = (key: string) => ({ Authorization: authorization(key) });
    await expect(authorized({ ...read, headers, command })).rejects.toThrow('Unauthorized');
    expect(command).not.toHaveBeenCalled();
  });

  it('is rejected with two headers whose names differ in case', async () => {
    const headers = (key: string) => ({ Authorization: [`Bearer ${key}`], authorization: [`Bearer ${key}`] });
    await expect(authorized({ ...read, headers })).rejects.toThrow('Unauthorized');
  });
});

describe('a denied request', () => {
  it.each<[string, Asked, Partial<KeyRecord>, Partial<ProjectRecord>, string]>([
    ['from an address that is not on the allowlist', read, { cidrs: ['203.0.113.0/24'] }, {}, 'ip_not_allowed'],
    ['for another caller', { method: 'GET', resource: '/v1/keys' }, {}, {}, 'insufficient_permissions'],
    ['of a suspended project', read, {}, { suspendedAt: now }, 'project_suspended'],
  ])('is denied everywhere and is no use of the key: %s', async (_, request, overrides, project, code) => {
    const { id, statement, use, context } = await authorized(request, overrides, project);
    expect(statement).toMatchObject({ Effect: 'Deny', Resource: [`${STAGE}/*`] });
    expect(context).toMatchObject({ code });
    expect(use).toEqual({});
    const line = { request_id: 'request-1', code, key_id: id, operation: request.resource };
    expect(logged).toEqual([['request.rejected', line]]);
  });

  it.each<[string, Partial<ProjectRecord> | null]>([
    ['is being deleted', { suspendedAt: now, deletingAt: now }],
    ['is deleted', null],
  ])('is not even authenticated when its project %s', async (_, project) => {
    await expect(authorized(read, {}, project)).rejects.toThrow('Unauthorized');
    expect(logged).toEqual([['request.rejected', { request_id: 'request-1', code: 'unauthorized' }]]);
  });
});

describe('the last rejection', () => {
  const HOUR_MS = 3_600_000;
  const DAY_MS = 24 * HOUR_MS;
  const tokenFrom =
    (issuedAt: number) =>
    async (_: string, { id: keyId, tokenSecret }: KeyRecord) => {
      const grant = {
        tokenId: 'tok_1',
        keyId,
        projectId: 'prj_1',
        environment: 'live',
        documents: ['a'],
        permissions: ['read'],
      };
      return { Authorization: [`Bearer ${await signToken(grant as Grant, 60, issuedAt, tokenSecret)}`] };
    };
  const [token, expiredToken] = [tokenFrom(now), tokenFrom(now - DAY_MS)];
  const sessionFrom = (issuedAt: number) => async (_: string, record: KeyRecord) => {
    const session = { sessionId: 's', environment: 'live', role: 'viewer' } as const;
    return { Authorization: [`Bearer ${await signSession(session, record, 60, issuedAt)}`] };
  };
  const [session, expiredSession] = [sessionFrom(now), sessionFrom(now - DAY_MS)];
  const forged = (key: string) => ({ Authorization: [`Bearer ${withSecret(key)}`] });
  const forgedToken = (key: string, record: KeyRecord) => token(key, { ...record, tokenSecret: 'a'.repeat(43) });
  const forgedSession = (key: string, record: KeyRecord) => session(key, { ...record, tokenSecret: 'a'.repeat(43) });
  const reasonOf = async (
    request: Partial<Asked>,
    key: Partial<KeyRecord>,
    project: Partial<ProjectRecord> | null = {},
  ) => {
    await authorized({ ...read, ...request }, key, project).catch(() => {});
    return recorded.lastRejected;
  };

  it.each<[string, Partial<Asked>, Partial<KeyRecord>, Partial<ProjectRecord>, string]>([
    ['a revoked key', {}, { revokedAt: now }, {}, 'revoked'],
    ['an expired key', {}, { expiresAt: now }, {}, 'expired'],
    ['a token of a revoked key', { headers: token }, { revokedAt: now }, {}, 'revoked'],
    ['a token of an expired key', { headers: token }, { expiresAt: now }, {}, 'expired'],
    ['an expired token', { headers: expiredToken }, {}, {}, 'expired'],
    ['a session of a revoked key', { headers: session }, { revokedAt: now }, {}, 'revoked'],
    ['a session of an expired key', { headers: session }, { expiresAt: now }, {}, 'expired'],
    ['an expired session', { headers: expiredSession }, {}, {}, 'expired'],
    ['an expired session of a revoked key', { headers: expiredSession }, { revokedAt: now }, {}, 'revoked'],
    ['a session of a suspended project', { headers: session }, {}, { suspendedAt: now }, 'suspended'],
    ['a revoked token', { headers: token }, { revokedTokens: ['tok_1'] }, {}, 'revoked'],
    ['a key from another address', {}, { cidrs: ['203.0.113.0/24'] }, {}, 'ip_not_allowed'],
    ['a token from another address', { headers: token }, { cidrs: ['203.0.113.0/24'] }, {}, 'ip_not_allowed'],
    ['a key of a suspended project', {}, {}, { suspendedAt: now }, 'suspended'],
  ])('has the hour and the reason of a request with %s', async (_, request, key, project, reason) => {
    expect(await reasonOf(request, key, project)).toEqual({ at: now, reasons: [reason] });
    expect(recorded.lastUsedAt).toBeUndefined();
  });

  it.each<[string, Partial<Asked>, Partial<KeyRecord>]>([
    ['is allowed', {}, {}],
    ['needs another caller', { method: 'GET', resource: '/v1/keys' }, {}],
    ['has another secret', { headers: forged }, {}],
    ['has another secret of a revoked key', { headers: forged }, { revokedAt: now }],
    ['has a token with another signature', { headers: forgedToken }, {}],
    ['has a session, from any address', { headers: session }, { cidrs: ['203.0.113.0/24'] }],
    ['has a session with another signature', { headers: forgedSession }, {}],
    ['has a session of a revoked key with another signature', { headers: forgedSession }, { revokedAt: now }],
    ['has a token of a revoked key with another signature', { headers: forgedToken }, { revokedAt: now }],
  ])('is independent of a request that %s', async (_, request, key) => {
    expect(await reasonOf(request, key)).toBeUndefined();
  });

  it.each<[string, Partial<KeyRecord>, string]>([
    ['revoked key', { revokedAt: now }, 'Unauthorized'],
    ['key from another address', { cidrs: ['203.0.113.0/24'] }, 'ip_not_allowed'],
  ])('does not change the response if it cannot be recorded: %s', async (_, key, expected) => {
    const command = (name: string) => {
      if (name === 'Update') throw new Error('throttled');
    };
    const answer = authorized({ ...read, command }, key).then(
      ({ context }) => context?.code,
      (error: Error) => error.message,
    );
    expect(await answer).toBe(expected);
    expect(warned).toEqual([['key.use_not_recorded', { key_id: recorded.id, error: expect.any(Error) }]]);
  });

  it('is written once for each hour and reason, also if reasons alternate', async () => {
    const [writes, key]: [string[], Partial<KeyRecord>] = [[], { revokedTokens: ['tok_1'] }];
    const command = (name: string) => void (name === 'Update' && writes.push(name));
    for (const headers of [token, expiredToken, token, expiredToken, token]) {
      await reasonOf({ headers, command }, key);
      key.lastRejected = recorded.lastRejected;
    }
    expect([writes.length, key.lastRejected]).toEqual([2, { at: now, reasons: ['revoked', 'expired'] }]);
    expect(
      await reasonOf({ headers: token }, { ...key, lastRejected: { at: now - HOUR_MS, reasons: ['expired'] } }),
    ).toEqual({
      at: now,
      reasons: ['revoked'],
    });
    const later = { at: now + HOUR_MS, reasons: ['expired' as const] };
    expect(await reasonOf({ headers: token }, { ...key, lastRejected: later })).toEqual(later);
  });
});

/** A well-formed key with the id of another one. */
function withSecret(key: string): string {
  const text = `${key.slice(0, -38)}${'0'.repeat(32)}`;
  return text + encodeBase62(crc32(text), 6);
}
