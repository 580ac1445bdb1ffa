import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, describe, expect, it } from 'vitest';
import { publishedKeys } from '../../lib/aws/published-keys.ts';

const MINUTE_MS = 60_000;

const servers: http.Server[] = [];
afterAll(() => {
  for (const server of servers) server.close().closeAllConnections();
});

/** Published keys whose list a test changes, at a time that it says. */
async function scanner(...identifiers: string[]) {
  const state = { identifiers, now: 0, asked: 0 };
  const server = http.createServer((_, response) => {
    state.asked++;
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
  it('are asked for once, and again for one that is new', async () => {
    const { state, find } = await scanner('a');
    expect([await find('a'), await find('a')]).toEqual(['PEM of a', 'PEM of a']);
    expect(state.asked).toBe(1);
    state.identifiers = ['a', 'b'];
    state.now += 5 * MINUTE_MS;
    expect([await find('b'), await find('a')]).toEqual(['PEM of b', 'PEM of a']);
    expect(state.asked).toBe(2);
  });

  it('are not asked for again and again because somebody makes identifiers up', async () => {
    const { state, find } = await scanner('a');
    for (let i = 0; i < 20; i++, state.now += 1000) expect(await find(`made up ${i}`)).toBeUndefined();
    expect(state.asked).toBe(1);
  });

  it('that cannot be read are a failure on our side', async () => {
    const find = publishedKeys('data:application/json,{}', () => 0);
    await expect(find('a')).rejects.toMatchObject({ name: 'UnavailableError' });
  });
});
