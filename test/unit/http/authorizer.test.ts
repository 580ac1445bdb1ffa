import { randomBytes as random } from 'node:crypto';
import type { APIGatewayRequestAuthorizerEvent } from 'aws-lambda';
import { describe, expect, it, vi } from 'vitest';
import { type AuthorizerDeps, authorizer } from '../../../lib/http/authorizer.ts';
import { newApiKey } from '../../../lib/keys/api-key.ts';
import { type KeyRecord, newKeyRecord } from '../../../lib/keys/key.ts';
import type { ProjectRecord } from '../../../lib/projects/project.ts';

const now = Date.UTC(2026, 0, 31, 12);
const STAGE = 'arn:aws:execute-api:eu-central-1:111122223333:api/live';

interface Asked {
  method: string;
  resource: string;
  /** Returns the headers of a caller with a key. */
  headers?: (key: string) => Record<string, string[]>;
  keys?: Partial<AuthorizerDeps['keys']>;
}

/** Authorizes a request with a live key, and returns the policy and the recorded uses. */
async function authorized(
  { method, resource, headers = (key) => ({ Authorization: [`Bearer ${key}`] }), keys }: Asked,
  overrides: Partial<KeyRecord> = {},
  project: Partial<ProjectRecord> | null = {},
) {
  const stored = { id: 'prj_1', name: 'Acme', emails: [], cursorSecret: 'secret', createdAt: now, ...project };
  const issued = newApiKey('live', now, random);
  const rest = { projectId: 'prj_1', name: null, tokenSecret: 'secret', createdAt: now };
  const record = newKeyRecord(issued, { ...rest, ...overrides });
  const uses: unknown[] = [];
  const authorize = authorizer({
    keys: {
      get: async () => ({ ...record, project: project ? stored : undefined }),
      recordUse: async (_read, use) => void uses.push(use),
      ...keys,
    },
    shareKeyOf: (projectId) => `share of ${projectId}`,
    requestsPerSecond: '500',
    clock: () => now,
    log: { info() {}, warn() {} },
    reportFailure() {},
  });
  const { policyDocument, usageIdentifierKey, context } = await authorize({
    httpMethod: method,
    resource,
    methodArn: `${STAGE}/${method}${resource.replace(/\{.*\}/, 'id')}`,
    multiValueHeaders: headers(issued.key),
    requestContext: { requestId: 'request-1', identity: { sourceIp: '192.0.2.1' } },
  } as unknown as APIGatewayRequestAuthorizerEvent);
  return { statement: policyDocument.Statement[0], uses, usageIdentifierKey, context };
}

const read = { method: 'GET', resource: '/v1/documents/{key}' };

describe('an allowed request', () => {
  it('allows only its own method and path, because the gateway can cache the policy', async () => {
    const { statement, usageIdentifierKey } = await authorized(read);
    expect(statement).toMatchObject({
      Effect: 'Allow',
      Resource: [`${STAGE}/GET/v1/documents/*`, `${STAGE}/GET/v1/documents/*/`],
    });
    expect(usageIdentifierKey).toBe('share of prj_1');
  });

  it('passes on the limit of the project, which responses state', async () => {
    expect((await authorized(read)).context).toMatchObject({ requests_per_second: '500' });
  });

  it('is a use of the key, once per hour', async () => {
    expect((await authorized(read)).uses).toEqual([{ lastUsedAt: now, activeHours: [1] }]);
    expect((await authorized(read, { lastUsedAt: now, activeHours: [1] })).uses).toEqual([]);
  });

  it('is allowed even if its use cannot be recorded, and with any case of its header', async () => {
    const recordUse = () => Promise.reject(new Error('throttled'));
    const headers = (key: string) => ({ authorization: [`Bearer ${key}`] });
    const { statement } = await authorized({ ...read, headers, keys: { recordUse } });
    expect(statement?.Effect).toBe('Allow');
  });
});

describe('a request without one well-formed credential', () => {
  it.each<[string, (key: string) => string[]]>([
    ['no header', () => []],
    ['an empty header', () => ['']],
    ['no scheme', (key) => [key]],
    ['another scheme', (key) => [`Basic ${key}`]],
    ['two spaces', (key) => [`Bearer  ${key}`]],
    ['a longer key', (key) => [`Bearer ${key}x`]],
    ['an unknown type of key', (key) => [`Bearer ${key.replace('live', 'prod')}`]],
    ['two headers', (key) => [`Bearer ${key}`, `Bearer ${key}`]],
  ])('is rejected without a read: %s', async (_, authorization) => {
    const get = vi.fn();
    const headers = (key: string) => ({ Authorization: authorization(key) });
    await expect(authorized({ ...read, headers, keys: { get } })).rejects.toThrow('Unauthorized');
    expect(get).not.toHaveBeenCalled();
  });
});

describe('a denied request', () => {
  it.each([
    ['from an address that is not on the allowlist', read, { cidrs: ['203.0.113.0/24'] }],
    ['for an operation of admin keys', { method: 'GET', resource: '/v1/keys' }, {}],
  ])('is denied everywhere and is no use of the key: %s', async (_, request, overrides) => {
    const { statement, uses } = await authorized(request, overrides);
    expect(statement).toMatchObject({ Effect: 'Deny', Resource: [`${STAGE}/*`] });
    expect(uses).toEqual([]);
  });
});

describe('a request of a suspended project', () => {
  it('is denied with project_suspended for every operation, and is no use of the key', async () => {
    const { statement, uses, context } = await authorized(read, {}, { suspendedAt: now });
    expect(statement).toMatchObject({ Effect: 'Deny', Resource: [`${STAGE}/*`] });
    expect(context).toMatchObject({ code: 'project_suspended' });
    expect(uses).toEqual([]);
  });

  it.each<[string, Partial<ProjectRecord> | null]>([
    ['is being deleted', { suspendedAt: now, deletingAt: now }],
    ['is deleted', null],
  ])('is not authenticated when the project %s', async (_, project) => {
    await expect(authorized(read, {}, project)).rejects.toThrow('Unauthorized');
  });
});
