import http from 'node:http';
import { describe, expect, it } from 'vitest';
import { put } from '../../support/documents.ts';
import { FAST_DELAYS, useService } from '../../support/service.ts';

const service = useService(FAST_DELAYS);

describe('a body', () => {
  it('is rejected with invalid UTF-8, and nothing is stored', async () => {
    const liveKey = await (await service.project()).key('live');
    const live = service.as(liveKey);
    const sent = await new Promise<{ status: number; text: string }>((resolve, reject) => {
      const headers = { Authorization: `Bearer ${liveKey}`, 'Content-Type': 'application/json' };
      const request = http.request(`${service.stack.baseUrl}/v1/documents/bytes`, { method: 'PUT', headers });
      request.on('response', async (response) => {
        let text = '';
        for await (const chunk of response) text += chunk;
        resolve({ status: response.statusCode ?? 0, text });
      });
      request.on('error', reject).end(Buffer.from('{"fields":{"a":"\xff"}}', 'latin1'));
    });
    expect([sent.status, JSON.parse(sent.text).code]).toEqual([400, 'invalid_json']);
    expect((await live('GET', '/v1/documents/bytes')).status).toBe(404);
    expect((await put(live, 'bytes', { a: 'é漢💩\u0000\ud800' })).status).toBe(201);
    expect((await live('GET', '/v1/documents/bytes')).body.fields.a).toBe('é漢💩\u0000\ud800');
  });
});

describe('the description of the API', () => {
  it('does not depend on the Host header', async () => {
    const hosts = ['evil","x":"', '$&$`', '<script>', 'a b'];
    for (const Host of hosts) {
      const { status, body } = await service.as(null)('GET', '/v1/openapi.json', { headers: { Host } });
      expect([status, body?.x, JSON.stringify(body?.servers ?? '').includes('evil')]).toEqual([200, undefined, false]);
    }
  });
});
