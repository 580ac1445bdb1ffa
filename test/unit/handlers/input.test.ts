import { beforeAll, describe, expect, it } from 'vitest';
import { code, put } from '../../support/documents.ts';
import { memoryService } from '../../support/memory-service.ts';
import { createWebhook } from '../../support/requests.ts';
import type { Client } from '../../support/service.ts';

const service = memoryService();
let live: Client;
let admin: Client;

beforeAll(async () => {
  const project = await service.project();
  ({ admin } = project);
  live = await project.client('live');
});

const invalid = [400, 'invalid_request'];
const missing = [404, 'not_found'];

describe('a malformed id', () => {
  it.each([
    ['GET', '/v1/webhooks/{id}'],
    ['PATCH', '/v1/webhooks/{id}'],
    ['DELETE', '/v1/webhooks/{id}'],
    ['POST', '/v1/webhooks/{id}/test'],
    ['POST', '/v1/webhooks/{id}/rotate-secret'],
    ['POST', '/v1/webhooks/{id}/recover'],
    ['GET', '/v1/webhooks/{id}/deliveries'],
    ['GET', '/v1/webhooks/{id}/deliveries/{id}'],
    ['POST', '/v1/webhooks/{id}/deliveries/{id}/redeliver'],
    ['GET', '/v1/events/{id}'],
    ['DELETE', '/v1/connections/{id}'],
  ] as const)('names nothing: %s %s', async (method, path) => {
    const body = path.endsWith('recover') ? { body: { since: '2026-01-01T00:00:00Z' } } : {};
    for (const id of ['a'.repeat(1500), 'a'.repeat(2050), 'whk_x', '%00', '__proto__', '%F0%9F%92%A9']) {
      expect(code(await live(method, path.replaceAll('{id}', id), body)), id).toEqual(missing);
    }
  });
});

describe('a time', () => {
  const expiring = (expires_at: string) => admin('POST', '/v1/keys', { body: { type: 'live', expires_at } });

  it.each([
    '2027-02-31T00:00:00Z',
    '2027-02-29T00:00:00Z',
    '2100-02-29T00:00:00Z',
    '2027-04-31T00:00:00Z',
    '2027-01-01T24:00:00Z',
    '2027-13-01T00:00:00Z',
    '2027-00-10T00:00:00Z',
    '2027-01-00T00:00:00Z',
    '9999-12-31T23:59:59-23:59',
    '2027-01-01',
    '2027-01-01T00:00:00',
  ])('is rejected if it does not exist: %s', async (text) => {
    expect(code(await expiring(text))).toEqual(invalid);
  });

  it.each([
    '2028-02-29T00:00:00Z',
    '2400-02-29T23:59:59.999Z',
    '9999-12-31T23:59:59Z',
    '2027-02-28T23:59:59-23:59',
  ])('is kept if it exists: %s', async (text) => {
    const answer = await expiring(text);
    expect([answer.status, Date.parse(answer.body.expires_at)]).toEqual([201, Date.parse(text)]);
  });

  it('is rejected before 1970, and a window without events is empty', async () => {
    const { id } = await createWebhook(live, 'https://example.com/');
    const recover = (body: object) => live('POST', `/v1/webhooks/${id}/recover`, { body });
    expect(code(await recover({ since: '1969-12-31T23:59:59Z' }))).toEqual(invalid);
    expect(code(await live('GET', `/v1/webhooks/${id}/deliveries?since=0001-01-01T00:00:00Z`))).toEqual(invalid);
    const reversed = await recover({ since: '2026-02-01T00:00:00Z', until: '2026-01-01T00:00:00Z' });
    expect(code(reversed)).toEqual(invalid);
    const violations = [{ field: 'until', detail: 'must not be before since' }];
    expect(reversed.body.errors).toEqual(violations);
    const window = 'since=2026-02-01T00:00:00Z&until=2026-01-01T00:00:00Z';
    expect((await live('GET', `/v1/webhooks/${id}/recover?${window}`)).body.errors).toEqual(violations);
    const [since, until] = Array(2).fill('2026-01-01T00:00:00Z');
    expect((await recover({ since, until })).body).toEqual({ count: 0 });
    expect((await recover({ since: '2100-01-01T00:00:00Z' })).body).toEqual({ count: 0 });
    expect((await recover({ since: '1970-01-01T00:00:00Z' })).body).toEqual({ count: 0 });
  });
});

describe('a URL', () => {
  it('is stored in the form of the URL standard', async () => {
    const events = ['sync.completed'];
    const created = await live('POST', '/v1/webhooks', { body: { url: 'HTTPS://EXAMPLE.com:443/a/../b?ä', events } });
    expect(created.body.url).toBe('https://example.com/b?%C3%A4');
    const changed = await live('PATCH', `/v1/webhooks/${created.body.id}`, { body: { url: 'https://Example.com' } });
    expect(changed.body.url).toBe('https://example.com/');
    for (const url of ['https://example.com/\r\nX: 1', ' https://example.com/', 'https:example.com']) {
      expect(code(await live('POST', '/v1/webhooks', { body: { url, events } })), url).toEqual(invalid);
      expect(code(await live('PATCH', `/v1/webhooks/${created.body.id}`, { body: { url } })), url).toEqual(invalid);
    }
  });
});

describe('a precondition', () => {
  it('compares strongly with If-Match and weakly with If-None-Match', async () => {
    await put(live, 'tagged', { a: 1 });
    const weak = { 'If-Match': 'W/"1"' };
    expect(code(await put(live, 'tagged', { a: 2 }, weak))).toEqual([412, 'precondition_failed']);
    expect((await put(live, 'tagged', { a: 2 }, { 'If-Match': '"7", "1"' })).status).toBe(200);
    const headers = { 'If-None-Match': 'W/"2"' };
    expect((await live('GET', '/v1/documents/tagged', { headers })).status).toBe(304);
  });
});
