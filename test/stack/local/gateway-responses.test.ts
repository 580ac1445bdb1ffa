import { gzipSync } from 'node:zlib';
import { describe, expect, it, vi } from 'vitest';
import { startGateway } from './gateway.ts';

describe('a header of a function', () => {
  it('is renamed like in API Gateway', async () => {
    const headers = { 'WWW-Authenticate': 'Bearer', Date: 'today', ETag: '"1"' };
    const { url } = await startGateway({ invoke: () => ({ statusCode: 401, headers, body: '' }) });
    const response = await fetch(`${url}/v1/keys`, { headers: { Authorization: 'x' } });
    const named = (name: string) => response.headers.get(name);
    expect([named('www-authenticate'), named('x-amzn-Remapped-WWW-Authenticate')]).toEqual([null, 'Bearer']);
    expect([named('x-amzn-Remapped-Date'), named('etag')]).toEqual(['today', '"1"']);
  });
});

describe('an authorized request', () => {
  async function statusOf(path: string, init: RequestInit = {}, resource = '*') {
    const { url } = await startGateway({ invoke: () => ({ statusCode: 204, body: '' }), resource });
    return (await fetch(url + path, { headers: { Authorization: 'x' }, ...init })).status;
  }
  const key = (bytes: number) => statusOf(`/v1/documents/${'a'.repeat(bytes)}`);
  const post = (bytes: number) => statusOf('/v1/events', { method: 'POST', body: 'a'.repeat(bytes) });
  const zipped = (bytes: number) => {
    const init = { method: 'POST', body: gzipSync(Buffer.alloc(bytes)) };
    return statusOf('/v1/events', { ...init, headers: { Authorization: 'x', 'Content-Encoding': 'gzip' } });
  };
  const headers = (bytes: number) => statusOf('/v1/keys', { headers: { Authorization: 'x'.repeat(bytes) } });
  const policy = (characters: number) => statusOf('/v1/keys', {}, '*'.repeat(characters));

  it.each([
    ['rejected when the ARN of its method has more than 1,600 bytes', key, 1500, 1600, 400],
    ['rejected when its body has more than 10 MB', post, 10_485_760, 10_485_761, 413],
    ['rejected when its decoded body has more than 10 MB', zipped, 10_485_760, 10_485_761, 413],
    ['rejected when its request line and headers have more than 10,240 bytes', headers, 9000, 10_240, 400],
    ['an error when a resource of the policy has more than 512 characters', policy, 512, 513, 503],
  ])('is %s', async (_, request, most, more, status) => {
    expect([await request(most), await request(more)]).toEqual([204, status]);
  });
});

describe('a function that fails', () => {
  const throwing = () => Promise.reject(new Error('no'));

  it.each([
    ['that it throws', throwing, 503, 'unavailable'],
    ['no response', () => null, 500, 'internal_error'],
    ['an informational status', () => ({ statusCode: 101, body: '' }), 500, 'internal_error'],
    ['a body that is no text', () => ({ statusCode: 200, body: {} }), 500, 'internal_error'],
    ['a line end', () => ({ statusCode: 200, headers: { A: 'b\r\nC: d' }, body: '' }), 500, 'internal_error'],
  ])('returns %s, which the gateway turns into a problem', async (_, invoke, status, code) => {
    const { url } = await startGateway({ invoke });
    const response = await fetch(`${url}/v1/keys`, { headers: { Authorization: 'x' } });
    expect(await response.json()).toMatchObject({ status, code });
  });

  it('causes a timeout after 29 seconds', async () => {
    const statusAfter = async (ms: number): Promise<number> => {
      vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
      const result = { statusCode: 204, body: '' };
      const { url } = await startGateway({
        invoke: () => new Promise((resolve) => setTimeout(resolve, ms, result) && vi.advanceTimersByTime(ms)),
      });
      return (await fetch(`${url}/v1/keys`, { headers: { Authorization: 'x' } })).status;
    };
    expect([await statusAfter(28_999), await statusAfter(29_000)]).toEqual([204, 503]);
    vi.useRealTimers();
  });
});
