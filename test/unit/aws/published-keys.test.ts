import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, describe, expect, it } from 'vitest';
import { publishedKeys } from '../../../lib/aws/published-keys.ts';

const MINUTE_MS = 60_000;

const servers: http.Server[] = [];
afterAll(() => {
  for (const server of servers) server.close().closeAllConnections();
});

/** Published keys with a list and a clock that a test can change. */
async function scanner(...identifiers: string[]) {
  const state = { identifiers, now: 0, asked: 0, isDown: false };
  const server = http.createServer((_, response) => {
    state.asked++;
    if (state.isDown) return void response.writeHead(503).end('{"public_keys":[]}');
    const public_keys = state.identifiers.map((key_identifier) => ({
      key_identifier,
      key: `PEM of ${key_identifier}`,
    }));
    response.end(JSON.stringify({ public_keys }));
  });
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return { state, find: publishedKeys(url, () => state.now) };
}

describe('the published keys of a scanner', () => {
  it('are fetched once, and again for a new key', async () => {
    const { state, find } = await scanner('a');
    expect([await find('a'), await find('a')]).toEqual(['PEM of a', 'PEM of a']);
    expect(state.asked).toBe(1);
    state.identifiers = ['a', 'b'];
    state.now += 5 * MINUTE_MS;
    expect([await find('b'), await find('a')]).toEqual(['PEM of b', 'PEM of a']);
    expect(state.asked).toBe(2);
  });

  it('are not fetched again for every unknown identifier', async () => {
    const { state, find } = await scanner('a');
    for (let i = 0; i < 20; i++, state.now += 1000) expect(await find(`made up ${i}`)).toBeUndefined();
    expect(state.asked).toBe(1);
  });

  it('are fetched again after an hour, so that a withdrawn key is rejected', async () => {
    const { state, find } = await scanner('a', 'b');
    await find('a');
    state.identifiers = ['b'];
    state.now += 60 * MINUTE_MS - 1;
    expect(await find('a')).toBe('PEM of a');
    state.now += 1;
    expect([await find('a'), await find('b')]).toEqual([undefined, 'PEM of b']);
    expect(state.asked).toBe(2);
  });

  it('are unavailable for a minute after a failed fetch', async () => {
    const { state, find } = await scanner('a');
    state.isDown = true;
    for (let i = 0; i < 60; i++, state.now += 1000)
      await expect(find(`made up ${i}`)).rejects.toMatchObject({ name: 'UnavailableError' });
    expect(state.asked).toBe(1);
    state.isDown = false;
    expect(await find('a')).toBe('PEM of a');
    expect(state.asked).toBe(2);
  });

  it('are fetched once for concurrent requests', async () => {
    const { state, find } = await scanner('a');
    await Promise.all(Array.from({ length: 20 }, () => find('a')));
    expect(state.asked).toBe(1);
  });

  it('are read up to 64 KiB', async () => {
    const sized = (bytes: number) => `data:application/json,${'{"public_keys":[]'.padEnd(bytes - 1)}}`;
    expect(await publishedKeys(sized(64 * 1024), () => 0)('a')).toBeUndefined();
    await expect(publishedKeys(sized(64 * 1024 + 1), () => 0)('a')).rejects.toThrow('more than 65536 bytes');
  });

  it('are rejected when the response is not a list of keys', async () => {
    const find = publishedKeys('data:application/json,{}', () => 0);
    await expect(find('a')).rejects.toMatchObject({ name: 'UnavailableError' });
  });
});
