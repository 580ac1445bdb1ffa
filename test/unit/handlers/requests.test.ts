import { describe, expect, it } from 'vitest';
import { changed } from '../../support/changed.ts';
import { code } from '../../support/documents.ts';
import { memoryService } from '../../support/memory-service.ts';
import type { Answer } from '../../support/service.ts';

const service = memoryService();

const expectProblem = (answer: Answer, ...expected: [status: number, code: string]) =>
  expect(code(answer), answer.text).toEqual(expected);

describe('a credential', () => {
  const events = (body = changed()) => ({ body });

  it('sees nothing of another environment or project', async () => {
    const project = await service.project();
    const [live, test] = [await project.client('live'), await project.client('test')];
    const other = await (await service.project()).client('live');
    const event = (await test('POST', '/v1/events', events())).body;
    const hook = (
      await test('POST', '/v1/webhooks', { body: { url: 'https://example.com', events: ['document.deleted'] } })
    ).body;
    for (const client of [live, other]) {
      expectProblem(await client('GET', `/v1/events/${event.id}`), 404, 'not_found');
      expectProblem(await client('GET', `/v1/webhooks/${hook.id}`), 404, 'not_found');
      expectProblem(await client('DELETE', `/v1/webhooks/${hook.id}`), 404, 'not_found');
      expect((await client('GET', '/v1/webhooks')).body).toEqual({ data: [], next_cursor: null });
    }
    expect((await project.admin('GET', `/v1/events/${event.id}?environment=sandbox`)).status).toBe(200);
    expectProblem(await project.admin('GET', `/v1/events/${event.id}`), 404, 'not_found');
  });
});

describe('a request', () => {
  it('returns violations of every kind together', async () => {
    const { admin } = await service.project();
    const fields = async (method: string, path: string, body: object, headers = {}) => {
      const answer = await admin(method, path, { body, headers });
      expectProblem(answer, 400, 'invalid_request');
      return answer.body.errors.map(({ field }: { field: string }) => field).sort();
    };
    const key = { 'Idempotency-Key': 'ä' };
    const webhook = { url: 'ftp://user@example.com', events: ['nothing', 'nothing'], secret: '', more: true };
    expect(await fields('POST', '/v1/webhooks?environment=x', webhook, key)).toEqual([
      'Idempotency-Key',
      'environment',
      'events[0]',
      'events[1]',
      'more',
      'secret',
      'url',
      'url',
    ]);
    const expired = { type: 'none', expires_at: '2020-01-01T00:00:00Z' };
    expect(await fields('POST', '/v1/keys', expired)).toEqual(['expires_at', 'type']);
    expect(await fields('PUT', '/v1/documents/d', { fields: 1 }, { 'X-Node-Id': 'x'.repeat(65) })).toEqual([
      'X-Node-Id',
      'fields',
    ]);
  });
});

describe('an event', () => {
  it('keeps every digit of its numbers', async () => {
    const live = await (await service.project()).client('live');
    const values = '[12345678901234567890,1e400,-0,1.0,"\\ud800",""]';
    const body = JSON.stringify(changed({ note: 0 })).replace('"note":0', `"note":${values}`);
    const published = await live('POST', '/v1/events', { body });
    expect(published.status).toBe(202);
    expect(published.text).toContain(`"note":${values}`);
    expect((await live('GET', `/v1/events/${published.body.id}`)).text).toBe(published.text);
  });
});
