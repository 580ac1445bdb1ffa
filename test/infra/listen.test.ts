import { spawn } from 'node:child_process';
import { once } from 'node:events';
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { forwardEvents } from '../../infra/commands/listen.ts';

const START = Date.parse('2026-01-31T12:00:00Z');
const SECRET = 'whsec_bGlzdGVuIHRvIG1lLCBsaXN0ZW4gdG8gbWU=';

interface Listed {
  id: string;
  at: number;
  type?: string;
}

const servers: http.Server[] = [];
afterEach(() => {
  for (const server of servers.splice(0)) server.close().closeAllConnections();
});

/** An API with a fixed clock and the events that tests add. `fails` returns the status of a failing request. */
async function startApi(fails: (path: string) => number | undefined = () => undefined) {
  const events: Listed[] = [];
  const keys: (string | undefined)[] = [];
  const lists: string[] = [];
  const server = http.createServer(({ url = '', headers }, response) => {
    keys.push(headers.authorization);
    const { pathname, searchParams } = new URL(url, 'http://api');
    const since = Date.parse(searchParams.get('since') ?? '1970-01-01T00:00:00Z');
    const shown = ({ id, at, type = 'document.changed' }: Listed) => ({
      id,
      type,
      timestamp: new Date(at).toISOString(),
    });
    const wanted = searchParams.get('type');
    if (pathname === '/v1/events') lists.push(wanted ?? 'all types');
    const listed = events
      .filter(({ at, type }) => at >= since && (wanted === null || type === wanted))
      .sort((a, b) => b.at - a.at);
    const body =
      pathname === '/v1/events' ? { data: listed.map(shown), next_cursor: null } : { id: pathname.slice(11) };
    response.setHeader('Date', new Date(START).toUTCString());
    response.writeHead(fails(pathname) ?? 200).end(JSON.stringify(body));
  });
  servers.push(server.listen(0, '127.0.0.1'));
  await once(server, 'listening');
  return { baseUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, server, events, keys, lists };
}

/** Polls once after each change, and returns the printed lines. */
async function linesOf(
  api: { baseUrl: string },
  changes: (() => void)[],
  { forwardTo, types = [] }: { forwardTo?: string; types?: string[] } = {},
): Promise<string[]> {
  const lines: string[] = [];
  const stop = new AbortController();
  await forwardEvents({
    baseUrl: api.baseUrl,
    key: 'svc_live_1',
    forwardTo,
    types,
    secret: SECRET,
    signal: stop.signal,
    print: (line) => void lines.push(line),
    async pause() {
      const change = changes.shift();
      if (change) change();
      else stop.abort();
    },
  });
  return lines;
}

const idsIn = (lines: readonly string[]) => lines.flatMap((line) => /evt_\w+/.exec(line)?.[0] ?? []);

describe('npm run listen', () => {
  it('prints an event that appears after one with a later timestamp, and each event once', async () => {
    const api = await startApi();
    const add = (id: string, at: number) => () => void api.events.push({ id, at });
    const nothing = () => {};
    const changes = [add('evt_b', START + 20_000), add('evt_a', START + 1000), nothing, add('evt_c', START + 60_000)];
    expect(idsIn(await linesOf(api, [...changes, add('evt_d', START + 31_000), nothing]))).toEqual([
      'evt_b',
      'evt_a',
      'evt_c',
      'evt_d',
    ]);
  });

  it('lists only the selected types, and prints their events in the order of their ids', async () => {
    const api = await startApi();
    const types = ['document.deleted', 'document.created'];
    const add = () =>
      void api.events.push(
        { id: 'evt_a', at: START, type: 'document.created' },
        { id: 'evt_b', at: START + 1, type: 'document.deleted' },
        { id: 'evt_c', at: START + 2, type: 'document.changed' },
        { id: 'evt_d', at: START + 3, type: 'document.created' },
      );
    expect(idsIn(await linesOf(api, [add], { types }))).toEqual(['evt_a', 'evt_b', 'evt_d']);
    expect(api.lists).toEqual([...types, ...types]);
  });

  it.each([429, 500])('prints an event in the next poll when reading it returned %d', async (status) => {
    let left = 2;
    const api = await startApi((path) => (path === '/v1/events/evt_a' && left-- > 0 ? status : undefined));
    const lines = await linesOf(api, [() => void api.events.push({ id: 'evt_a', at: START }), () => {}, () => {}]);
    expect(lines).toEqual([
      `Showing events, signed with ${SECRET}`,
      expect.stringContaining(`Polling failed, trying again: GET /v1/events/evt_a: ${status}`),
      expect.stringContaining('evt_a  ✓ verified'),
      'Polling works again.',
    ]);
  });

  it('stops when the API rejects the key', async () => {
    const api = await startApi(() => 401);
    await expect(linesOf(api, [])).rejects.toThrow('401');
  });

  it('follows no redirect, because the next server would receive the signature', async () => {
    const api = await startApi();
    const paths: (string | undefined)[] = [];
    const endpoint = http.createServer(({ url }, response) => {
      paths.push(url);
      response.writeHead(307, { Location: '/elsewhere' }).end();
    });
    servers.push(endpoint.listen(0, '127.0.0.1'));
    await once(endpoint, 'listening');
    const forwardTo = `http://127.0.0.1:${(endpoint.address() as AddressInfo).port}/hook`;
    const lines = await linesOf(api, [() => void api.events.push({ id: 'evt_a', at: START }), () => {}], { forwardTo });
    expect(lines.at(-1)).toContain('→ 307');
    expect(paths).toEqual(['/hook']);
  });

  it('takes the key from the environment', async () => {
    const api = await startApi();
    const env = { ...process.env, DOCUMENT_SYNC_KEY: 'svc_live_environment' };
    const child = spawn(process.execPath, ['infra/commands/listen.ts', '--base-url', api.baseUrl], {
      env,
      stdio: 'pipe',
    });
    await once(api.server, 'request');
    expect(api.keys).toEqual(['Bearer svc_live_environment']);
    child.kill('SIGKILL');
    await once(child, 'exit');
  });
});
