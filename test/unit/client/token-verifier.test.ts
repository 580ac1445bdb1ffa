import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { tokenVerifier } from '../../../lib/client/token-verifier.ts';

const NOW = Date.parse('2026-01-31T12:00:00.000Z');
beforeEach(() => void vi.useFakeTimers({ toFake: ['Date'], now: NOW }));
afterEach(() => void vi.useRealTimers());

const at = (seconds: number) => new Date(NOW + seconds * 1000).toISOString();
const active = (members: object = {}) => ({
  active: true,
  allowed: true,
  cache_seconds: 60,
  expires_at: at(3600),
  ...members,
});

/** A verifier, and the bodies of the requests that it sent. */
function verifier(response: object = active(), { status = 200, maxCached = 10, responseSeconds = 0 } = {}) {
  const sent: object[] = [];
  const verifyToken = tokenVerifier({
    baseUrl: 'https://api.example.com/',
    credential: 'key',
    maxCached,
    fetch: async (url, init) => {
      expect(url).toBe('https://api.example.com/v1/tokens/verify');
      sent.push(JSON.parse(String(init?.body)));
      vi.setSystemTime(Date.now() + responseSeconds * 1000);
      if (status === 0) throw new Error('No connection');
      return new Response(JSON.stringify(response), { status });
    },
  });
  return { sent, verifyToken };
}

describe('a token verifier', () => {
  it('sends what it checks, and returns the result', async () => {
    const { sent, verifyToken } = verifier();
    const check = { document_key: 'org:a', permission: 'write', address: '203.0.113.7' } as const;
    expect(await verifyToken('token', check)).toEqual(active());
    expect(sent).toEqual([{ token: 'token', ...check }]);
  });

  // From the start of the request, because a revocation can follow the check.
  it.each([
    [active(), 59.9, 1],
    [active(), 60, 2],
    [active({ expires_at: at(10) }), 9.9, 1],
    [active({ expires_at: at(10) }), 10, 2],
    [active({ cache_seconds: 1e9 }), 59.9, 1],
    [active({ cache_seconds: 1e9 }), 60, 2],
    [active({ cache_seconds: 0 }), 5, 2],
    [{ active: false }, 5, 2],
  ])('reuses %o %d s after the start of its request: %i requests', async (response, seconds, requests) => {
    const { sent, verifyToken } = verifier(response, { responseSeconds: 5 });
    await verifyToken('token');
    vi.setSystemTime(NOW + seconds * 1000);
    expect(await verifyToken('token')).toEqual(response);
    expect(sent).toHaveLength(requests);
  });

  it('reuses no result of another token, document, permission or address', async () => {
    const { sent, verifyToken } = verifier();
    await verifyToken('token');
    await verifyToken('other');
    await verifyToken('token', { document_key: 'a' });
    await verifyToken('token', { document_key: 'a', permission: 'read' });
    await verifyToken('token', { document_key: 'a', permission: 'read', address: '203.0.113.7' });
    expect(sent).toHaveLength(5);
  });

  it('sends one request for calls at the same time with the same check, and the next request after it ends', async () => {
    const { sent, verifyToken } = verifier({ active: false });
    const calls = [
      verifyToken('token'),
      verifyToken('token'),
      verifyToken('other'),
      verifyToken('token', { address: '::1' }),
    ];
    expect(await Promise.all(calls)).toEqual(Array(4).fill({ active: false }));
    expect(sent).toHaveLength(3);
    await verifyToken('token');
    expect(sent).toHaveLength(4);
  });

  it('rejects each call of a shared request that fails, and asks again after it', async () => {
    const { sent, verifyToken } = verifier({}, { status: 503 });
    const calls = await Promise.allSettled([verifyToken('token'), verifyToken('token')]);
    expect(calls.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
    expect(sent).toHaveLength(1);
    await expect(verifyToken('token')).rejects.toThrow('503');
    expect(sent).toHaveLength(2);
  });

  it('keeps a limited number of results', async () => {
    const { sent, verifyToken } = verifier(active(), { maxCached: 2 });
    for (const token of ['a', 'b', 'c', 'b', 'c']) await verifyToken(token);
    expect(sent).toHaveLength(3);
    await verifyToken('a');
    expect(sent).toHaveLength(4);
    vi.setSystemTime(NOW + 60_000);
    for (const token of ['c', 'd', 'c']) await verifyToken(token); // `c` is newer than `a` then
    expect(sent).toHaveLength(6);
  });

  it.each([
    [401, 'the service responded with 401'],
    [429, 'the service responded with 429'],
    [503, 'the service responded with 503'],
    [0, 'No connection'],
  ])('throws if the service responds with %i (0: not at all), and asks again', async (status, message) => {
    const { sent, verifyToken } = verifier({}, { status });
    for (let i = 0; i < 2; i++) await expect(verifyToken('token')).rejects.toThrow(message);
    expect(sent).toHaveLength(2);
  });
});
