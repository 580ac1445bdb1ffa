import http from 'node:http';
import { describe, expect, it } from 'vitest';
import { code, mint } from '../../support/documents.ts';
import { FAST_DELAYS, useService } from '../../support/service.ts';
import { HOSTILE_HOST } from '../../unit/http/builders.ts';

const service = useService(FAST_DELAYS);

describe('HEAD', () => {
  it('returns the same as GET without the content, and needs the same credential', async () => {
    const { admin } = await service.project();
    await admin('PUT', '/v1/documents/a', { body: { fields: {} } });
    for (const path of ['/v1/keys', '/v1/documents/a', '/v1/webhooks/whk_1', '/dashboard', '/v1/openapi.json']) {
      const [get, head] = [await admin('GET', path), await admin('HEAD', path)];
      expect([head.status, head.text], path).toEqual([get.status, '']);
      for (const name of ['content-type', 'etag', 'cache-control'])
        expect(head.headers[name], path).toBe(get.headers[name]);
    }
    expect((await service.as(null)('HEAD', '/v1/keys')).status).toBe(401);
  });
});

describe('a method that a path does not have', () => {
  it('returns 405 and the methods of the path for every valid credential and any body', async () => {
    const project = await service.project();
    const read = await project.client('read');
    for (const call of [{}, { body: {} }, { body: 'x', headers: { 'Content-Type': 'text/plain' } }]) {
      for (const client of [project.admin, read]) {
        const { status, headers, body } = await client('PUT', '/v1/keys', call);
        expect([status, body.code, headers.allow]).toEqual([405, 'method_not_allowed', 'POST, GET, HEAD']);
      }
    }
  });

  it('returns 401 without a credential, and 403 to an address off the allowlist', async () => {
    const nobody = service.as(null);
    for (const [method, path] of [
      ['PUT', '/v1/keys'],
      ['OPTIONS', '/v1/webhooks'],
      ['POST', '/dashboard'],
      ['DELETE', '/v1/openapi.json'],
    ] as const)
      expect((await nobody(method, path)).status, `${method} ${path}`).toBe(401);
    const preflight = await fetch(`${service.stack.baseUrl}/v1/documents/a`, { method: 'OPTIONS' });
    expect(preflight.status).toBe(204);
    const { admin } = await service.project();
    const { id, key } = (await admin('POST', '/v1/keys', { body: { type: 'read' } })).body;
    await admin('POST', `/v1/keys/${id}/allowlist`, { body: { cidrs: ['192.0.2.0/24'] } });
    expect((await service.as(key)('PUT', '/v1/keys')).body.code).toBe('ip_not_allowed');
  });
});

describe('a 201', () => {
  it('contains the URL of the new resource', async () => {
    const { admin } = await service.project();
    const key = await admin('POST', '/v1/keys', { body: { type: 'live' } });
    const bodies: [string, object][] = [
      ['/v1/keys', { type: 'live' }],
      [`/v1/keys/${key.body.id}/rotate`, {}],
      ['/v1/webhooks', { url: 'https://example.com/', events: ['document.changed'] }],
    ];
    for (const [path, body] of bodies) {
      const first = await admin('POST', path, { body });
      const { location = '' } = first.headers;
      expect(location).toMatch(new RegExp(`^${service.stack.baseUrl}/v1/(keys|webhooks)/${first.body.id}$`));
      expect((await admin('GET', location.slice(service.stack.baseUrl.length))).body.id).toBe(first.body.id);
    }
    const put = () => admin('PUT', '/v1/documents/a%3Ab', { body: { fields: { a: 1 } } });
    expect((await put()).headers.location).toBe(`${service.stack.baseUrl}/v1/documents/a:b`);
    expect((await put()).headers).not.toHaveProperty('location');
  });
});

describe('a request that names another host', () => {
  /** `fetch` cannot send these headers. */
  const get = (path: string, headers: Record<string, string>) =>
    new Promise<{ location: string | undefined; text: string }>((resolve, reject) => {
      const { port } = new URL(service.stack.baseUrl);
      http
        .get({ host: '127.0.0.1', port, path, headers }, async (response) => {
          const text = (await response.toArray()).join('');
          resolve({ location: response.headers.location, text: text.replace(/"request_id":"[^"]*"/, '') });
        })
        .on('error', reject);
    });

  it('gets the links of the configuration', async () => {
    const { baseUrl } = service.stack;
    const { host } = new URL(baseUrl);
    const expected = [
      ['/', '/dashboard', ''],
      ['/docs/', '/docs', ''],
      ['/v1/openapi.json', undefined, `"servers":[{"url":"${baseUrl}"}]`],
      ['/llms.txt', undefined, `(${baseUrl}/docs/`],
      ['/docs/quickstart', undefined, baseUrl],
      ['/docs/nothing', undefined, `"type":"${baseUrl}/docs/errors#route_not_found"`],
      ['/v1/keys', undefined, `"type":"${baseUrl}/docs/errors#unauthorized"`],
    ] as const;
    for (const [path, location, part] of expected) {
      const usual = await get(path, { Host: host });
      expect(await get(path, HOSTILE_HOST), path).toEqual(usual);
      expect([usual.location, usual.text], path).toEqual([location, expect.stringContaining(part)]);
    }
  });
});

describe('a 403', () => {
  it('states the allowed credentials and the type of the credential', async () => {
    const project = await service.project();
    const read = await project.client('read');
    const live = await project.client('live');
    const token = service.as(await mint(live, ['*'], ['read'], 60));
    const both = service.as(await mint(live, ['*'], ['read', 'write'], 60));
    const detail = async (answer: ReturnType<typeof read>) => (await answer).body.detail;
    expect(await detail(read('GET', '/v1/webhooks'))).toBe(
      'Call GET /v1/webhooks with an admin, live, or test key, or a dashboard link with the role viewer or editor. This credential is a key of type read.',
    );
    expect(await detail(token('PUT', '/v1/documents/a', { body: { fields: {} } }))).toBe(
      'Call PUT /v1/documents/{key} with an admin, live, or test key, or a scoped token with write. This credential is a scoped token with read.',
    );
    expect(await detail(both('GET', '/v1/webhooks'))).toMatch(/ is a scoped token with read and write\.$/);
    const { id, key } = (await project.admin('POST', '/v1/keys', { body: { type: 'live' } })).body;
    await project.admin('POST', `/v1/keys/${id}/allowlist`, { body: { cidrs: ['127.0.0.9/32'] } });
    expect(await detail(service.as(key)('GET', '/v1/webhooks', { from: '127.0.0.8' }))).toContain('127.0.0.8');
  });
});

describe('a trailing slash', () => {
  it('makes no difference for an operation', async () => {
    const { admin } = await service.project();
    await admin('PUT', '/v1/documents/a', { body: { fields: {} } });
    for (const path of ['/v1/keys', '/v1/documents/a', '/v1/event-types', '/v1/openapi.json']) {
      const [plain, slashed] = [await admin('GET', path), await admin('GET', `${path}/`)];
      expect([slashed.status, slashed.text], path).toEqual([200, plain.text]);
    }
  });
});

describe('a request', () => {
  it('is rejected if its query contains a plain brace or pipe, unless it is URL-encoded', async () => {
    const { admin } = await service.project();
    const read = (value: string, client = admin) => client('GET', `/v1/documents?prefix=${value}`);
    for (const character of ['{', '}', '|']) {
      const { body } = await read(encodeURIComponent(character)); // the function receives it, and the prefix is invalid
      expect(body.errors).toMatchObject([{ field: 'prefix' }]);
      for (const client of [admin, service.as(null)]) {
        const plain = await read(character, client);
        expect(code(plain)).toEqual([400, 'invalid_request']);
        expect(plain.body).not.toHaveProperty('errors');
      }
    }
    expect((await read('%61')).status).toBe(200);
  });

  it('is rejected if its query contains a plain semicolon, which separates parameters', async () => {
    const { admin } = await service.project();
    const fieldsOf = async (query: string) =>
      (await admin('GET', `/v1/documents?${query}`)).body.errors.map(({ field }: { field: string }) => field);
    expect([await fieldsOf('prefix=a;b'), await fieldsOf('prefix=a%3Bb')]).toEqual([['b'], ['prefix']]);
  });
});
