import { decodeJwt } from 'jose';
import { beforeEach, describe, expect, it } from 'vitest';
import type { Role } from '../../../lib/credentials.ts';
import { code, listed, mint, openLink } from '../../support/documents.ts';
import { memoryService } from '../../support/memory-service.ts';
import type { Client, Project } from '../../support/service.ts';

const service = memoryService();
const HOUR_MS = 3_600_000;
const WEBHOOK = { url: 'https://example.com/', events: ['document.changed'] };
let project: Project;
let admin: Client;

beforeEach(async () => {
  project = await service.project();
  admin = project.admin;
});

const create = (client: Client, body: object, headers = {}) => client('POST', '/v1/dashboard-links', { body, headers });
const opened = async (client: Client, role: Role, more: object = {}) =>
  service.as(await openLink(client, { role, ...more }));
const keyOf = async (type: string, body: object = {}) =>
  (await admin('POST', '/v1/keys', { body: { type, ...body } })).body;
const claimsIn = ({ body }: Awaited<ReturnType<Client>>) => decodeJwt(body.url.split('#session=')[1]);
const reads = async (client: Client) => code(await client('GET', '/v1/webhooks'));
const works = [200, undefined];
const rejected = [401, 'unauthorized'];

describe('a dashboard link', () => {
  it('opens the dashboard of the deployment, and expires after an hour', async () => {
    const answer = await create(admin, { role: 'viewer' });
    const { url, expires_at } = answer.body;
    expect(Object.keys(answer.body)).toEqual(['url', 'expires_at']);
    expect(url).toMatch(/^http:\/\/127\.0\.0\.1:3000\/dashboard#session=[\w-]+\.[\w-]+\.[\w-]+$/);
    expect(Date.parse(expires_at)).toBe(Math.floor(service.clock.now() / 1000) * 1000 + HOUR_MS);
    const client = service.as(url.split('#session=')[1]);
    expect(await reads(client)).toEqual(works);
    service.clock.skip(HOUR_MS);
    expect(await reads(client)).toEqual(rejected);
  });

  it('shows its session only once, and is not created again by a repetition', async () => {
    const headers = { 'Idempotency-Key': 'a' };
    const [first, again] = [
      await create(admin, { role: 'viewer' }, headers),
      await create(admin, { role: 'viewer' }, headers),
    ];
    expect(again.body).toEqual({ ...first.body, url: null });
    expect(again.headers['idempotency-replayed']).toBe('true');
  });

  it.each([
    ['admin', {}, 'live'],
    ['admin', { environment: 'sandbox' }, 'sandbox'],
    ['live', {}, 'live'],
    ['live', { environment: 'live' }, 'live'],
    ['live', { environment: 'sandbox' }, null],
    ['test', {}, 'sandbox'],
    ['test', { environment: 'sandbox' }, 'sandbox'],
    ['test', { environment: 'live' }, null],
  ])('of a key of type %s with %o is for %s', async (type, given, environment) => {
    const client = type === 'admin' ? admin : await project.client(type as 'live');
    const answer = await create(client, { role: 'editor', ...given });
    if (environment === null) return expect(code(answer)).toEqual([403, 'insufficient_permissions']);
    expect(claimsIn(answer).env).toBe(environment);
    const session = service.as(answer.body.url.split('#session=')[1]);
    expect((await session('POST', '/v1/webhooks', { body: WEBHOOK })).body.environment).toBe(environment);
    const other = environment === 'live' ? 'sandbox' : 'live';
    expect(code(await session('GET', `/v1/webhooks?environment=${other}`))).toEqual([403, 'insufficient_permissions']);
  });

  it('takes the environment of a request with an admin key from its query too', async () => {
    const { body } = await admin('POST', '/v1/dashboard-links?environment=sandbox', { body: { role: 'viewer' } });
    expect(decodeJwt(body.url.split('#session=')[1]).env).toBe('sandbox');
  });

  it('says until when it works if its key expires earlier', async () => {
    const expires_at = new Date(service.clock.now() + 90_500).toISOString();
    const { key } = await keyOf('live', { expires_at });
    expect((await create(service.as(key), { role: 'viewer' })).body.expires_at).toBe(expires_at);
  });
});

describe('a session', () => {
  it.each<[string, (key: { id: string }) => Promise<unknown>]>([
    ['revoked', ({ id }) => admin('POST', `/v1/keys/${id}/revoke`)],
    [
      'rotated without a grace period',
      ({ id }) => admin('POST', `/v1/keys/${id}/rotate`, { body: { grace_seconds: 0 } }),
    ],
  ])('ends with its key on the next request: %s', async (_, end) => {
    const key = await keyOf('live');
    const client = await opened(service.as(key.key), 'viewer');
    expect(await reads(client)).toEqual(works);
    await end(key);
    expect(await reads(client)).toEqual(rejected);
  });

  it('ends while its project is suspended', async () => {
    const client = await opened(admin, 'editor');
    await service.administer({ operation: 'suspend', id: project.id });
    expect(await reads(client)).toEqual([403, 'project_suspended']);
    await service.administer({ operation: 'resume', id: project.id });
    expect(await reads(client)).toEqual(works);
  });

  it('works from every address, but only the allowlist of its key can create it', async () => {
    const { id, key } = await keyOf('live');
    await admin('POST', `/v1/keys/${id}/allowlist`, { body: { cidrs: ['127.0.0.9/32'] } });
    const from = '127.0.0.9';
    const body = { role: 'viewer' };
    expect(code(await create(service.as(key), body))).toEqual([403, 'ip_not_allowed']);
    const answer = await service.as(key)('POST', '/v1/dashboard-links', { body, from });
    expect(await reads(service.as(answer.body.url.split('#session=')[1]))).toEqual(works);
  });

  it('is a use of its key, and a rejection after it has expired', async () => {
    const { id, key } = await keyOf('live');
    const client = await opened(service.as(key), 'viewer');
    const longer = await opened(service.as(key), 'viewer', { expires_in: 86_400 });
    service.clock.skip(2 * HOUR_MS);
    const at = new Date(Math.floor(service.clock.now() / HOUR_MS) * HOUR_MS).toISOString();
    const stateOf = async () => {
      const { last_used_at, last_rejected } = (await admin('GET', `/v1/keys/${id}`)).body;
      return [last_used_at === at, last_rejected];
    };
    expect(await reads(client)).toEqual(rejected);
    expect(await stateOf()).toEqual([false, { at, reason: 'expired' }]);
    expect(await reads(longer)).toEqual(works);
    expect(await stateOf()).toEqual([true, { at, reason: 'expired' }]);
  });

  it('is told which credentials have access', async () => {
    const [viewer, editor] = [await opened(admin, 'viewer'), await opened(admin, 'editor')];
    const detailOf = async (client: Client, method: string, path: string) => (await client(method, path)).body.detail;
    expect(await detailOf(viewer, 'POST', '/v1/webhooks')).toBe(
      'Call POST /v1/webhooks with an admin, live, or test key, or a dashboard link with the role editor. This credential is a dashboard link with the role viewer.',
    );
    expect(await detailOf(editor, 'GET', '/v1/audit')).toBe(
      'Call GET /v1/audit with an admin key. This credential is a dashboard link with the role editor.',
    );
    const reader = await project.client('read');
    expect(await detailOf(reader, 'GET', '/v1/webhooks')).toMatch(
      /^Call GET \/v1\/webhooks with an admin, live, or test key, or a dashboard link with the role viewer or editor\./,
    );
    const writer = service.as(await mint(admin, ['*'], ['write']));
    expect(await detailOf(writer, 'GET', '/v1/documents')).toMatch(
      'with an admin, live, test, or read key, a scoped token with read, or a dashboard link with the role viewer or editor.',
    );
  });

  it('is no token for servers that ask, and is not verified by their keys', async () => {
    const session = await openLink(admin, { role: 'editor' });
    const { body } = await admin('POST', '/v1/tokens/verify', { body: { token: session } });
    expect(body).toEqual({ active: false });
  });

  it('has its own idempotency keys', async () => {
    const [one, other] = [await opened(admin, 'editor'), await opened(admin, 'editor')];
    const send = (client: Client) =>
      client('POST', '/v1/webhooks', { body: WEBHOOK, headers: { 'Idempotency-Key': 'same' } });
    const answers = [await send(admin), await send(one), await send(other), await send(one)];
    expect(answers.map(({ status, headers }) => [status, headers['idempotency-replayed']])).toEqual([
      [201, undefined],
      [201, undefined],
      [201, undefined],
      [201, 'true'],
    ]);
    expect(await listed(admin, '/v1/webhooks')).toHaveLength(3);
  });
});
