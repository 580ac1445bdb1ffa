import http from 'node:http';
import { text } from 'node:stream/consumers';
import { setImmediate as turn } from 'node:timers/promises';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { dev } from '../../infra/commands/dev.ts';
import { elementsOf } from '../../infra/commands/listen.ts';
import { UserError } from '../../infra/user-error.ts';
import { ATTEMPT_TIMEOUT_MS, postOf } from '../../lib/deliveries/attempt.ts';
import type { StoredEvent } from '../../lib/events/event.ts';
import type { WebhookRecord } from '../../lib/webhooks/webhook.ts';
import { freePort, listen } from '../support/endpoints.ts';
import { ran } from '../support/shell.ts';

const START = Date.parse('2026-01-31T12:00:00Z');
/** A number that a double changes. */
const NUMBER = '12345678901234567890';
const SECRET = 'whsec_bGlzdGVuIHRvIG1lLCBsaXN0ZW4gdG8gbWU=';

interface Listed {
  id: string;
  at: number;
  type?: string;
}

afterEach(() => void process.removeAllListeners('SIGINT')); // each command adds one

/** An API with a fixed clock and the events that tests add. `fails` returns the status of a failing request. */
async function startApi(fails: (path: string) => number | undefined = () => undefined) {
  const events: Listed[] = [];
  const lists: string[] = [];
  const server = http.createServer(({ url = '' }, response) => {
    const { pathname, searchParams } = new URL(url, 'http://api');
    const since = Date.parse(searchParams.get('since') ?? '1970-01-01T00:00:00Z');
    const shown = ({ id, at, type = 'document.changed' }: Listed) => ({
      id,
      type,
      timestamp: new Date(at).toISOString(),
      occurred_at: '2026-01-01T00:00:00.000Z',
      data: 'NUMBER',
    });
    const wanted = searchParams.get('type');
    if (pathname === '/v1/events') lists.push(wanted ?? 'all types');
    const listed = events
      .filter(({ at, type }) => at >= since && (wanted === null || type === wanted))
      .sort((a, b) => b.at - a.at);
    const from = Number(searchParams.get('cursor') ?? 0);
    const next = from + 100 < listed.length ? String(from + 100) : null;
    const body = JSON.stringify({ data: listed.slice(from, from + 100).map(shown), next_cursor: next });
    response.setHeader('Date', new Date(START).toUTCString());
    const status = fails(pathname);
    response.writeHead(status ?? 200).end(status ? '\u009b2J' : body.replaceAll('"NUMBER"', NUMBER));
  });
  return { baseUrl: `http://127.0.0.1:${await listen(server)}`, events, lists };
}

/** Polls once after each change, and returns the printed lines. Throws if the command ends earlier. */
async function linesOf(
  api: { baseUrl: string },
  changes: (() => void)[],
  { forwardTo, types = [] }: { forwardTo?: string; types?: string[] } = {},
): Promise<string[]> {
  const options = ['--base-url', api.baseUrl, '--key', 'svc_live_1', '--secret', SECRET, '--events', types.join()];
  if (forwardTo !== undefined) options.push('--forward-to', forwardTo);
  const wait = async (ms: number) => {
    expect(ms).toBe(1000);
    const change = changes.shift();
    if (!change) throw new UserError('The test has ended.');
    change();
  };
  const { stdout, stderr } = await ran(dev('npm run dev --'), ['listen', ...options], {}, { wait });
  if (stderr !== 'The test has ended.\n') throw new Error(stderr);
  return stdout.trimEnd().split(/\n(?! )/);
}

/** The ids of the printed events that have their own type and body. */
const idsIn = (lines: readonly string[]) =>
  lines.flatMap((line) => / (evt_\w+) {2}✓ verified {2}(\S+) .*\{"id":"\1","type":"\2",/s.exec(line)?.[1] ?? []);

describe('listen', () => {
  it('prints an event that appears after one with a later timestamp, each event once, and none from before its start', async () => {
    const api = await startApi();
    api.events.push({ id: 'evt_old', at: START - 1000 });
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

  it('lists only the selected types, and prints their events in the order of their ids when all lists succeed', async () => {
    let lists = 0;
    const api = await startApi((path) => (path === '/v1/events' && ++lists === 4 ? 500 : undefined));
    const types = ['document.deleted', 'document.created'];
    const add = () =>
      void api.events.push(
        { id: 'evt_a', at: START, type: 'document.created' },
        { id: 'evt_b', at: START + 1, type: 'document.deleted' },
        { id: 'evt_c', at: START + 2, type: 'document.changed' },
        { id: 'evt_d', at: START + 3, type: 'document.created' },
      );
    const lines = await linesOf(api, [add, () => {}], { types: [...types, ...types] });
    expect(idsIn(lines)).toEqual(['evt_a', 'evt_b', 'evt_d']);
    expect(api.lists).toEqual([...types, ...types, ...types]);
  });

  it('states once per outage that one of two lists fails, and prints an event in the next poll', async () => {
    let lists = 0;
    const api = await startApi((path) => (path === '/v1/events' && [1, 3, 9].includes(lists++) ? 500 : undefined));
    const types = ['document.changed', 'document.deleted'];
    api.events.push({ id: 'evt_a', at: START, type: types[0] });
    const changes = Array(4).fill(() => {});
    const lines = await linesOf(api, changes, { types });
    const failed = 'Polling failed, trying again: GET /v1/events: 500 \\u009b2J';
    expect(lines).toEqual([
      `Showing events, signed with ${SECRET}`,
      failed,
      expect.stringContaining('evt_a  ✓ verified'),
      'Polling works again.',
      failed,
    ]);
  });

  it('reads only new pages at 100 events per second, and finds a late event within ten polls', async () => {
    const api = await startApi();
    const idOf = (i: number) => `evt_${String(i).padStart(5, '0')}`;
    let count = 0;
    const pages: number[] = [];
    const second = () => {
      pages.push(api.lists.splice(0).length);
      for (let i = 0; i < 100; i++, count++) api.events.push({ id: idOf(count), at: START + count * 10 });
    };
    const late = () => void api.events.push({ id: 'evt_late', at: START + 15_000 });
    const lines = await linesOf(api, [...Array(30).fill(second), late, ...Array(10).fill(second), () => {}]);
    expect(new Set(idsIn(lines))).toEqual(new Set([...Array.from({ length: count }, (_, i) => idOf(i)), 'evt_late']));
    expect(idsIn(lines)).toHaveLength(count + 1);
    const few = pages.filter((read) => read <= 2).length;
    expect(few).toBeGreaterThanOrEqual(pages.length - 5); // the others read the whole overlap
  });

  it('keeps the text of each event in a page', () => {
    const events = [
      '{"id":"a","data":{"n":12345678901234567890,"m":1.10}}',
      '{"id":"b","text":"}\\\\\\"]{","list":[[{}]]}',
    ];
    expect(elementsOf(`{"data":[${events.join(',')}],"next_cursor":"[{"}`)).toEqual(events);
    expect(elementsOf('{"data":[],"next_cursor":null}')).toEqual([]);
  });

  it('stops when the API rejects the key', async () => {
    const api = await startApi(() => 401);
    await expect(linesOf(api, [])).rejects.toThrow('401');
  });

  it('forwards events one after another as the service does, and follows no redirect, because the next server would receive it', async () => {
    const api = await startApi();
    const received: string[] = [];
    const other: object[] = [];
    let [open, mostOpen] = [0, 0];
    const endpoint = http.createServer(async (request, response) => {
      mostOpen = Math.max(mostOpen, ++open);
      const { headers } = request;
      const body = await text(request);
      const event = { id: headers['x-service-event-id'], type: headers['x-service-event-type'], body } as StoredEvent;
      const at = Number(headers['webhook-timestamp']) * 1000;
      const delivered = postOf(1, { secret: SECRET } as WebhookRecord, event, at);
      const sent = Object.entries(delivered.headers).filter(([name, value]) => headers[name.toLowerCase()] !== value);
      other.push(...sent);
      received.push(`${request.url} ${body}`);
      // A concurrent request would arrive during these turns.
      for (let turns = 0; turns < 20; turns++) await turn();
      open--;
      response.writeHead(307, { Location: '/elsewhere' }).end();
    });
    const forwardTo = `http://127.0.0.1:${await listen(endpoint)}/hook`;
    const events = [
      { id: 'evt_b', at: START + 2, type: 'document.deleted' },
      { id: 'evt_c', at: START + 3, type: 'document.changed' },
      { id: 'evt_a', at: START, type: 'document.created' }, // appears late
    ];
    const add =
      (...some: Listed[]) =>
      () =>
        void api.events.push(...some);
    const lines = await linesOf(api, [add(...events.slice(0, 2)), add(...events.slice(2)), () => {}], { forwardTo });
    expect(lines.at(-1)).toContain('→ 307');
    const texts = events.map(({ id, type }) =>
      expect.stringMatching(`^/hook {"id":"${id}","type":"${type}",.*"data":${NUMBER}}$`),
    );
    expect([received, other, mostOpen]).toEqual([texts, [], 1]);
  });

  it('states why an event could not be forwarded, and continues with the next one', async () => {
    const timeout = vi.spyOn(AbortSignal, 'timeout');
    const api = await startApi();
    const forwardTo = `http://127.0.0.1:${await freePort()}`;
    const add = () => void api.events.push({ id: 'evt_a', at: START }, { id: 'evt_b', at: START });
    const lines = await linesOf(api, [add], { forwardTo });
    const failed = (id: string) => expect.stringContaining(`${id}  document.changed  → connection refused`);
    expect(lines).toEqual([`Forwarding to ${forwardTo}, signed with ${SECRET}`, failed('evt_a'), failed('evt_b')]);
    expect(timeout).toHaveBeenCalledWith(ATTEMPT_TIMEOUT_MS);
    timeout.mockRestore();
  });
});
