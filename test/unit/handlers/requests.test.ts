import { describe, expect, it } from 'vitest';
import { EVENT_TYPES } from '../../../lib/events/types.ts';
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
  it('is rejected with an unknown type or an invalid shape, also in a batch', async () => {
    const live = await (await service.project()).client('live');
    const fields = (answer: Answer) => answer.body.errors.map(({ field }: { field: string }) => field);
    const unknown = await live('POST', '/v1/events', { body: { type: 'document.moved', data: {} } });
    expectProblem(unknown, 400, 'invalid_request');
    expect(fields(unknown)).toEqual(['type']);
    const shapeless = await live('POST', '/v1/events', {
      body: changed({ revision: '2', changes: [{ field: 'a', old_value: 1 }] }),
    });
    expectProblem(shapeless, 400, 'invalid_request');
    expect(fields(shapeless).sort()).toEqual(['data.changes[0].new_value', 'data.changes[0].origin', 'data.revision']);
    const batch = await live('POST', '/v1/events/batch', {
      body: { events: [changed(), { type: 'document.changed', data: {} }] },
    });
    expectProblem(batch, 400, 'invalid_request');
    expect(fields(batch)).toContain('events[1].data.document_key');
    for (const events of [[], Array(101).fill(changed())]) {
      expectProblem(await live('POST', '/v1/events/batch', { body: { events } }), 400, 'invalid_request');
    }
  });

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

describe('an idempotency key', () => {
  const key = () => ({ 'Idempotency-Key': crypto.randomUUID() });

  it('replays the first response, and stores nothing twice', async () => {
    const live = await (await service.project()).client('live');
    const call = { body: changed(), headers: key() };
    const first = await live('POST', '/v1/events', call);
    const again = await live('POST', '/v1/events', call);
    expect(again.text).toBe(first.text);
    expect(again.status).toBe(202);
    expect(again.headers['idempotency-replayed']).toBe('true');
    expect(first.headers).not.toHaveProperty('idempotency-replayed');
    expectProblem(
      await live('POST', '/v1/events', { ...call, body: changed({ revision: 9 }) }),
      422,
      'idempotency_key_reused',
    );
  });

  it('replays the response even if the request would be rejected now', async () => {
    const { admin } = await service.project();
    const expires_at = new Date(service.clock.now() + 60_000).toISOString();
    const call = { body: { type: 'live', expires_at }, headers: key() };
    expect((await admin('POST', '/v1/keys', call)).status).toBe(201);
    await service.clock.advance(120_000);
    expect((await admin('POST', '/v1/keys', call)).headers['idempotency-replayed']).toBe('true');
    expectProblem(await admin('POST', '/v1/keys', { ...call, headers: key() }), 400, 'invalid_request');
  });

  it('replays no secret', async () => {
    const { admin } = await service.project();
    const call = { body: { type: 'live' }, headers: key() };
    const first = await admin('POST', '/v1/keys', call);
    const again = await admin('POST', '/v1/keys', call);
    const { key: secret, ...rest } = first.body;
    expect(secret).toMatch(/^svc_live_/);
    expect(again.body).toEqual({ ...rest, key: null });
    expect((await admin('GET', '/v1/keys')).body.data).toHaveLength(2);
  });

  it('lets one of several concurrent requests do the work', async () => {
    const live = await (await service.project()).client('live');
    const call = { body: { url: 'https://example.com/', events: EVENT_TYPES }, headers: key() };
    const answers = await Promise.all(Array.from({ length: 4 }, () => live('POST', '/v1/webhooks', call)));
    const created = answers.filter(({ status, headers }) => status === 201 && !headers['idempotency-replayed']);
    expect(created).toHaveLength(1);
    for (const answer of answers) expect([201, 409]).toContain(answer.status);
    expect((await live('GET', '/v1/webhooks')).body.data).toHaveLength(1);
  });

  it('replays the complete response of a large batch', async () => {
    const live = await (await service.project()).client('live');
    const events = Array.from({ length: 100 }, (_, i) => changed({ revision: i + 1, note: '😀é'.repeat(1500) }));
    const call = { body: { events }, headers: key() };
    const first = await live('POST', '/v1/events/batch', call);
    expect(first.status).toBe(202);
    expect((await live('POST', '/v1/events/batch', call)).text).toBe(first.text);
  });

  it('belongs to one environment, is released after a problem, and must be printable', async () => {
    const project = await service.project();
    const headers = key();
    const [live, test] = [await project.client('live'), await project.client('test')];
    const ids = await Promise.all(
      [live, test].map(async (client) => (await client('POST', '/v1/events', { body: changed(), headers })).body.id),
    );
    expect(new Set(ids).size).toBe(2);
    const other = key();
    expect((await live('POST', '/v1/events', { body: { type: 'nothing' }, headers: other })).status).toBe(400);
    expect((await live('POST', '/v1/events', { body: changed(), headers: other })).status).toBe(202);
    for (const bad of ['', 'a'.repeat(256)]) {
      expectProblem(
        await live('POST', '/v1/events', { body: changed(), headers: { 'Idempotency-Key': bad } }),
        400,
        'invalid_request',
      );
    }
  });
});
