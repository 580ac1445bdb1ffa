import { expect, it } from 'vitest';
import { changed } from '../../support/changed.ts';
import { code, put } from '../../support/documents.ts';
import { memoryService } from '../../support/memory-service.ts';
import { createWebhook } from '../../support/requests.ts';

const service = memoryService();
const liveClient = async () => (await service.project()).client('live');
const invalid = [400, 'invalid_request'];
const missing = [404, 'not_found'];

it('shows nothing of another environment or project', async () => {
  const project = await service.project();
  const [live, test] = [await project.client('live'), await project.client('test')];
  const event = (await test('POST', '/v1/events', { body: changed() })).body;
  const { id } = await createWebhook(test, 'https://example.com');
  for (const client of [live, await liveClient()]) {
    expect(code(await client('GET', `/v1/events/${event.id}`))).toEqual(missing);
    expect(code(await client('GET', `/v1/webhooks/${id}`))).toEqual(missing);
    expect(code(await client('DELETE', `/v1/webhooks/${id}`))).toEqual(missing);
    expect((await client('GET', '/v1/webhooks')).body).toEqual({ data: [], next_cursor: null });
  }
  expect((await project.admin('GET', `/v1/events/${event.id}?environment=sandbox`)).status).toBe(200);
  expect(code(await project.admin('GET', `/v1/events/${event.id}`))).toEqual(missing);
});

it('rejects a window of time that is reversed, and finds nothing in an empty one', async () => {
  const live = await liveClient();
  const { id } = await createWebhook(live, 'https://example.com/');
  const path = `/v1/webhooks/${id}/recover`;
  const recover = (body: object) => live('POST', path, { body });
  const violations = [{ field: 'until', detail: 'must not be before since' }];
  const [since, until] = ['2026-02-01T00:00:00Z', '2026-01-01T00:00:00Z'];
  expect((await recover({ since, until })).body.errors).toEqual(violations);
  expect((await live('GET', `${path}?since=${since}&until=${until}`)).body.errors).toEqual(violations);
  for (const window of [{ since, until: since }, { since: '2100-01-01T00:00:00Z' }, { since: '1970-01-01T00:00:00Z' }])
    expect((await recover(window)).body).toEqual({ count: 0 });
});

it('stores the URL of a webhook in the form of the URL standard', async () => {
  const live = await liveClient();
  const created = await live('POST', '/v1/webhooks', {
    body: { url: 'HTTPS://EXAMPLE.com:443/a/../b?ä', events: ['sync.completed'] },
  });
  expect(created.body.url).toBe('https://example.com/b?%C3%A4');
  const change = (url: string) => live('PATCH', `/v1/webhooks/${created.body.id}`, { body: { url } });
  expect((await change('https://Example.com')).body.url).toBe('https://example.com/');
  expect(code(await change(' https://example.com/'))).toEqual(invalid);
});

it('compares a document strongly with If-Match and weakly with If-None-Match', async () => {
  const live = await liveClient();
  await put(live, 'tagged', { a: 1 });
  const weak = { 'If-Match': 'W/"1"' };
  expect(code(await put(live, 'tagged', { a: 2 }, weak))).toEqual([412, 'precondition_failed']);
  expect((await put(live, 'tagged', { a: 2 }, { 'If-Match': '"7", "1"' })).status).toBe(200);
  const headers = { 'If-None-Match': 'W/"2"' };
  expect((await live('GET', '/v1/documents/tagged', { headers })).status).toBe(304);
});
