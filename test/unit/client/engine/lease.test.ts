import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { engineLease, type OpenConnection } from '../../../../lib/client/engine/lease.ts';
import { fakeService } from '../fake-service.ts';

beforeEach(() => void vi.useFakeTimers({ toFake: ['Date', 'setTimeout', 'clearTimeout'] }));
afterEach(() => void vi.useRealTimers());
const pass = (seconds: number) => vi.advanceTimersByTimeAsync(seconds * 1000);
const connection = (id: string): OpenConnection => ({ id, node_id: 'n', document_key: 'org:a', user: `user of ${id}` });

type Status = number | 'lost' | 'down' | 'page' | 'slow';

/** A lease of 60 s, and the requests that it sent. `status` replaces the responses, and `lost` loses one after it had its effect. */
async function leased({ status = 200 as Status, retryAfter = '' } = {}) {
  const state = { status };
  const log: string[] = [];
  const service = await fakeService({
    fate() {
      if (state.status === 200 || state.status === 204) return undefined;
      if (state.status === 'slow') return new Promise((resolve) => setTimeout(resolve, 1000, undefined));
      if (state.status === 'page') return new Response('<h1>Login</h1>');
      if (typeof state.status === 'string') throw new TypeError('fetch failed');
      return new Response('{"code":"too_many_requests","detail":"Wait."}', {
        status: state.status,
        headers: retryAfter ? { 'Retry-After': retryAfter } : {},
      });
    },
  });
  const lease = engineLease({
    ...service.access,
    leaseSeconds: 60,
    log: (message) => log.push(message),
    engineId: 'e1',
  });
  const sent = () =>
    service.sent.map(({ method, path, body }) => [method, path.split('/').at(-1), body?.opened.length, body?.closed]);
  return { lease, log, sent, state, service };
}

describe('the lease of an engine', () => {
  it('starts with the first connection, contains changes with its renewals, and ends without a connection', async () => {
    const { lease, sent, service } = await leased();
    await pass(600);
    expect(sent()).toEqual([]);
    lease.open(connection('a'));
    lease.open(connection('b'));
    await pass(1);
    expect(service.sent[0]).toMatchObject({
      method: 'PUT',
      path: '/v1/engines/e1',
      body: { lease_seconds: 60, opened: [connection('a'), connection('b')], closed: [] },
    });
    lease.open(connection('c'));
    lease.close('a', true);
    lease.close('b', false);
    await pass(10);
    await pass(30);
    lease.close('c', false);
    await pass(600);
    expect(sent().slice(1)).toEqual([
      ['PUT', 'e1', 1, [{ id: 'a', lost: true }, { id: 'b' }]],
      ...Array(3).fill(['PUT', 'e1', 0, []]),
      ['PUT', 'e1', 0, [{ id: 'c' }]],
    ]);
  });

  it('tells the service nothing of a connection that has closed before a request, unless it is lost', async () => {
    const { lease, sent } = await leased();
    lease.open(connection('kept'));
    lease.open(connection('clean'));
    lease.open(connection('lost'));
    lease.close('clean', false);
    lease.close('lost', true);
    lease.close('lost', true);
    lease.close('unknown', true);
    await pass(1);
    expect(sent()).toEqual([['PUT', 'e1', 2, [{ id: 'lost', lost: true }]]]);
  });

  it('has at most 500 changes in a request, and sends a full one immediately', async () => {
    const { lease, sent, service } = await leased();
    const ids = Array.from({ length: 1200 }, (_, i) => `c${i}`);
    for (const id of ids) lease.open(connection(id));
    lease.close('c0', true);
    await pass(1);
    expect(sent()).toEqual([
      ['PUT', 'e1', 500, []],
      ['PUT', 'e1', 500, []],
      ['PUT', 'e1', 200, [{ id: 'c0', lost: true }]],
    ]);
    expect(new Set(service.sent.flatMap(({ body }) => body.opened.map(({ id }: OpenConnection) => id)))).toEqual(
      new Set(ids),
    );
  });

  it.each<[Status, string | RegExp]>([
    [429, '429 too_many_requests: Wait.'],
    [503, '503 too_many_requests: Wait.'],
    ['down', 'fetch failed'],
    ['page', /Unexpected token/],
  ])('is repeated well within its time after a failure (%s), with every change, and logs that once', async (status, reason) => {
    const { lease, log, sent, state, service } = await leased();
    lease.open(connection('a'));
    await pass(1);
    state.status = status;
    lease.close('a', true);
    lease.open(connection('b'));
    await pass(40);
    expect(sent().length).toBeGreaterThan(4);
    expect(log).toEqual([expect.stringMatching(reason)]);
    expect(log[0]).toMatch(/^A request for the lease of the engine is repeated: /);
    state.status = 200;
    service.sent.length = 0;
    await pass(10);
    expect(sent()[0]).toEqual(['PUT', 'e1', 1, [{ id: 'a', lost: true }]]);
    expect(log[1]).toBe('Requests for the lease of the engine succeed again.');
  });

  it('is renewed in time although the service asks for a long wait', async () => {
    const { lease, sent, state } = await leased({ retryAfter: '3600' });
    lease.open(connection('a'));
    await pass(1);
    state.status = 429;
    await pass(20);
    state.status = 200;
    await pass(11);
    expect(sent().length).toBeGreaterThan(3);
  });

  it('sends one request at a time, and the changes during a request with the next renewal', async () => {
    const { lease, sent } = await leased({ status: 'slow' });
    for (let i = 0; i < 10; i++) {
      lease.open(connection(`c${i}`));
      await pass(0.2);
    }
    await pass(8);
    expect(sent()).toEqual([['PUT', 'e1', 1, []]]);
    await pass(2);
    expect(sent().slice(1)).toEqual([['PUT', 'e1', 9, []]]);
    const ids = Array.from({ length: 700 }, (_, i) => `d${i}`);
    for (const id of ids) {
      lease.open(connection(id));
      await pass(0.01);
    }
    await pass(12);
    expect(sent().slice(2)).toEqual([
      ['PUT', 'e1', 500, []],
      ['PUT', 'e1', 200, []],
    ]);
  });

  it('waits after a failure, however many changes there are', async () => {
    const { lease, sent, state, service } = await leased({ retryAfter: '30' });
    lease.open(connection('a'));
    await pass(1);
    state.status = 429;
    for (let i = 0; i < 1000; i++) {
      lease.open(connection(`c${i}`));
      await pass(0.03);
    }
    expect(sent().length).toBeLessThan(6);
    state.status = 200;
    service.sent.length = 0;
    await pass(11);
    expect(sent()).toEqual(Array(2).fill(['PUT', 'e1', 500, []]));
  });

  it('contains every open connection again after it has expired, however many', async () => {
    const { lease, sent, service } = await leased();
    const ids = Array.from({ length: 1100 }, (_, i) => `c${i}`);
    for (const id of ids) lease.open(connection(id));
    await pass(1);
    service.openedAt = 'second';
    service.sent.length = 0;
    lease.close('c0', true);
    lease.open(connection('new'));
    await pass(30);
    expect(sent()).toEqual([
      ['PUT', 'e1', 1, [{ id: 'c0', lost: true }]],
      ['PUT', 'e1', 500, []],
      ['PUT', 'e1', 500, []],
      ['PUT', 'e1', 99, []],
      ...Array(2).fill(['PUT', 'e1', 0, []]),
    ]);
    const again = service.sent.flatMap(({ body }) => body.opened.map(({ id }: OpenConnection) => id));
    expect(new Set(again)).toEqual(new Set([...ids.slice(1), 'new']));
  });

  it('sends a change again if its request had an effect but no response', async () => {
    const { lease, sent, state, service } = await leased();
    state.status = 'lost';
    lease.open(connection('a'));
    await pass(1);
    lease.close('a', false);
    state.status = 200;
    service.sent.length = 0;
    await pass(10);
    expect(sent()).toEqual([['PUT', 'e1', 1, [{ id: 'a' }]]]);
  });

  it('reports connections that were lost before the end of the engine', async () => {
    const { lease, log, sent } = await leased();
    for (let i = 0; i < 600; i++) lease.open(connection(`c${i}`));
    lease.close('c0', true);
    await lease.end();
    expect(sent()).toEqual([
      ['PUT', 'e1', 500, []],
      ['PUT', 'e1', 100, [{ id: 'c0', lost: true }]],
      ['DELETE', 'e1', undefined, undefined],
    ]);
    const other = await leased();
    other.lease.open(connection('a'));
    await pass(1);
    other.lease.close('a', true);
    other.state.status = 429;
    await other.lease.end();
    expect(other.sent().map(([method]) => method)).toEqual(['PUT', 'PUT', 'DELETE']);
    expect(other.log).toEqual([
      '1 lost connections are not reported: 429 too_many_requests: Wait.',
      'The lease of the engine is not closed: 429 too_many_requests: Wait.',
    ]);
    expect(log).toEqual([]);
  });

  it('is closed by the end of the engine, also if that fails', async () => {
    const { lease, log, sent, state } = await leased();
    lease.open(connection('a'));
    await pass(1);
    state.status = 'down';
    await lease.end();
    await pass(600);
    expect(sent()).toEqual([
      ['PUT', 'e1', 1, []],
      ['DELETE', 'e1', undefined, undefined],
    ]);
    expect(log).toEqual(['The lease of the engine is not closed: fetch failed']);
    const unused = await leased();
    await unused.lease.end();
    expect(unused.sent()).toEqual([]);
  });
});
