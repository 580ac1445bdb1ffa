import { describe, expect, it } from 'vitest';
import { EVENT_TYPES } from '../../../lib/events/types.ts';
import { changed } from '../../support/changed.ts';
import { type Answer, useService } from '../../support/service.ts';

const service = useService();

function expectProblem(answer: Answer, status: number, code: string): void {
  expect([answer.status, answer.body?.code], answer.text).toEqual([status, code]);
  expect(answer.headers['content-type']).toBe('application/problem+json');
  expect(answer.body).toMatchObject({ type: `${service.stack.baseUrl}/docs/errors#${code}`, status, code });
  expect(answer.body.title).not.toBe('');
  expect(answer.body.detail).not.toBe('');
  expect(answer.body.request_id).toBe(answer.headers['x-request-id']);
  expect(answer.body.request_id).toMatch(/^[\w-]{36}$/);
  if (status === 401) expect(answer.headers['www-authenticate']).toBe('Bearer');
}

describe('a credential', () => {
  const events = (body = changed()) => ({ body });

  it('returns the same 401 if it is missing, malformed, unknown or has a wrong checksum', async () => {
    const key = await (await service.project()).key('live');
    const flipped = `${key.slice(0, -1)}${key.endsWith('0') ? '1' : '0'}`;
    const values = [
      null,
      '',
      'Bearer',
      'Bearer ',
      `Bearer  ${key}`,
      `Basic ${key}`,
      `Bearer ${key},Bearer ${key}`,
      key,
    ];
    const headers = [...values, `Bearer ${flipped}`, `Bearer ${key.replace('live', 'prod')}`, `Bearer ${key}\u00e9`];
    for (const value of headers) {
      const call = { ...events(), ...(value !== null && { headers: { Authorization: value } }) };
      const answer = await service.as(null)('POST', '/v1/events', call);
      expectProblem(answer, 401, 'unauthorized');
      expect(JSON.stringify(answer.body)).not.toContain('checksum');
    }
    const long = { headers: { Authorization: `Bearer ${'a'.repeat(11 * 1024)}` } };
    expect((await service.as(null)('GET', '/v1/webhooks', long)).status).toBe(400);
  });

  it('returns 403 for an operation without permission', async () => {
    const project = await service.project();
    const read = await project.client('read');
    expectProblem(await read('POST', '/v1/webhooks', { body: {} }), 403, 'insufficient_permissions');
    expectProblem(await read('GET', '/v1/webhooks'), 403, 'insufficient_permissions');
    expectProblem(await read('POST', '/v1/events', events()), 403, 'insufficient_permissions');
    const live = await project.client('live');
    expectProblem(await live('GET', '/v1/keys'), 403, 'insufficient_permissions');
    expectProblem(await live('POST', '/v1/keys', { body: { type: 'live' } }), 403, 'insufficient_permissions');
    expectProblem(await live('POST', '/v1/events?environment=sandbox', events()), 403, 'insufficient_permissions');
  });
});

describe('a request', () => {
  it('returns 404 for an unknown path', async () => {
    const live = await (await service.project()).client('live');
    for (const [method, path] of [
      ['GET', '/v1'],
      ['GET', '/v1/nothing'],
      ['GET', '/v1/webhooks//'],
      ['OPTIONS', '/v1/nothing'],
      ['TRACE', '/v1/keys'],
      ['QUERY', '/v1/keys'],
    ] as const) {
      expectProblem(await live(method, path), 404, 'route_not_found');
      expectProblem(await service.as(null)(method, path), 404, 'route_not_found');
    }
  });

  it('is rejected if its query contains a plain brace or pipe, unless it is URL-encoded', async () => {
    const { admin } = await service.project();
    const read = (value: string, client = admin) => client('GET', `/v1/documents?prefix=${value}`);
    for (const character of ['{', '}', '|']) {
      const { body } = await read(encodeURIComponent(character)); // the function receives it, and the prefix is invalid
      expect(body.errors).toMatchObject([{ field: 'prefix' }]);
      for (const client of [admin, service.as(null)]) {
        const plain = await read(character, client);
        expectProblem(plain, 400, 'invalid_request');
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

  it('is rejected if it is not JSON, not declared as JSON or too large', async () => {
    const live = await (await service.project()).client('live');
    for (const body of [
      '{',
      '{"type":}',
      'nothing',
      '{"a":1} trailing',
      '[1,]',
      `${'['.repeat(201)}${']'.repeat(201)}`,
    ]) {
      expectProblem(await live('POST', '/v1/events', { body }), 400, 'invalid_json');
    }
    const text = { body: JSON.stringify(changed()), headers: { 'Content-Type': 'text/plain' } };
    expectProblem(await live('POST', '/v1/events', text), 415, 'unsupported_media_type');
    const padding = ' '.repeat(1024 * 1024);
    expectProblem(
      await live('POST', '/v1/events', { body: JSON.stringify(changed()) + padding }),
      413,
      'payload_too_large',
    );
    const large = changed({ note: 'x'.repeat(256 * 1024) });
    expectProblem(await live('POST', '/v1/events', { body: large }), 413, 'payload_too_large');
    expect((await live('POST', '/v1/events', { body: changed({ note: 'x'.repeat(255 * 1024) }) })).status).toBe(202);
  });
});

describe('an idempotency key', () => {
  const key = () => ({ 'Idempotency-Key': crypto.randomUUID() });

  it('lets one of several concurrent requests do the work', async () => {
    const live = await (await service.project()).client('live');
    const call = { body: { url: 'https://example.com/', events: EVENT_TYPES }, headers: key() };
    const answers = await Promise.all(Array.from({ length: 4 }, () => live('POST', '/v1/webhooks', call)));
    const created = answers.filter(({ status, headers }) => status === 201 && !headers['idempotency-replayed']);
    expect(created).toHaveLength(1);
    for (const answer of answers) expect([201, 409]).toContain(answer.status);
    expect((await live('GET', '/v1/webhooks')).body.data).toHaveLength(1);
  });
});
