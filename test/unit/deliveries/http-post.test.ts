import http from 'node:http';
import net from 'node:net';
import { text } from 'node:stream/consumers';
import { inspect } from 'node:util';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { httpPost } from '../../../lib/deliveries/http-post.ts';
import { PROTOTYPE_NAMES } from '../../support/adversarial.ts';
import { closed, endpoint, listen, stopTime } from '../../support/endpoints.ts';

const post = httpPost('any');
const to = (url: string) => ({ url, headers: {}, body: '{}' });
const ok = { statusCode: 200, error: null };
const OK = 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok';

it.each([
  ['no text', ''],
  ['text beyond ASCII', '{"text":"Änderung 🎉\u2028\uffff"}'],
  ['much text beyond ASCII', 'ü'.repeat(100_000)],
])('a request sends the complete body of %s with its length in bytes', async (_, body) => {
  const { promise, resolve } = Promise.withResolvers<[length: string | undefined, text: string]>();
  const server = http.createServer(async (request, response) => {
    resolve([request.headers['content-length'], await text(request)]);
    response.end();
  });
  const url = `http://127.0.0.1:${await listen(server)}/`;
  expect(await post({ url, headers: {}, body })).toMatchObject(ok);
  expect(await promise).toEqual([String(Buffer.from(body).length), body]);
});

it('an internal failure does not contain the request, because it is logged', async () => {
  const connect = vi.spyOn(net.Socket.prototype, 'connect').mockImplementation(function (this: net.Socket) {
    return this.destroy(Object.assign(new Error('too many open files'), { code: 'EMFILE' }));
  });
  const request = { url: 'http://127.0.0.1:1/secret', headers: { Authorization: 'secret' }, body: 'secret' };
  const error = await post(request).catch((thrown) => thrown);
  connect.mockRestore();
  expect([error.code, inspect(error, { depth: 9 }).includes('secret')]).toEqual(['EMFILE', false]);
});

describe('a response', () => {
  it.each([
    [200, 65_536, null],
    [200, 65_537, 'response_too_large'],
    [500, 65_536, 'status_not_2xx'],
  ])('%i with %i bytes, headers included, is an outcome with an excerpt and the error %s', async (...given) => {
    const [statusCode, bytes, error] = given;
    const head = `HTTP/1.1 ${statusCode} Some\r\nConnection: close\r\n\r\n`;
    const { url } = await endpoint((socket) => socket.end(head + 'x'.repeat(bytes - head.length)));
    expect(await post(to(url))).toMatchObject({ statusCode, error, excerpt: 'x'.repeat(1024) });
  });

  it('is stored with its headers, up to 1 KiB, by any name', async () => {
    const names = ['Via', 'X-One', ...PROTOTYPE_NAMES];
    const lines = [...names.map((name) => `${name}: 1`), 'Via: 2', `X-Long: ${'x'.repeat(1024)}`, 'Content-Length: 0'];
    const { url } = await endpoint(`HTTP/1.1 200 OK\r\n${lines.join('\r\n')}\r\n\r\n`);
    const sent = Object.fromEntries(PROTOTYPE_NAMES.map((name) => [name, 'y']));
    const { headers } = await post({ url, headers: sent, body: '' });
    expect(headers).toEqual(names.map((name) => [name, name === 'Via' ? '1, 2' : '1']));
  });
});

afterEach(() => void vi.restoreAllMocks());

describe('time', () => {
  stopTime();

  /** Starts a POST to an endpoint that does not respond before `respond`. */
  async function pending() {
    const { promise: asked, resolve: ask } = Promise.withResolvers<net.Socket>();
    const { url } = await endpoint(ask);
    const tick = vi.fn();
    const leaving = new AbortController();
    const idle = httpPost('any', { idleTime: () => performance.now() });
    const outcome = idle(to(url), { tick, signal: leaving.signal });
    outcome.catch(() => {});
    const socket = await asked;
    return { outcome, tick, leaving, socket, respond: () => socket.write(OK) };
  }

  it('limits an attempt to 5 seconds', async () => {
    const { outcome, respond } = await pending();
    vi.advanceTimersByTime(4999);
    respond();
    expect(await outcome).toMatchObject({ ...ok, durationMs: 4999 });
    const late = await pending();
    vi.advanceTimersByTime(5000);
    expect(await late.outcome).toMatchObject({ statusCode: null, error: 'timeout', durationMs: 5000 });
  });

  it('reports the time every 100 ms until the attempt has ended', async () => {
    const { outcome, tick, respond } = await pending();
    vi.advanceTimersByTime(99);
    expect(tick).not.toHaveBeenCalled();
    vi.advanceTimersByTime(201);
    expect(tick.mock.calls).toEqual([[100], [200], [300]]);
    respond();
    expect(await outcome).toMatchObject({ ...ok, waitedMs: 300 });
    vi.advanceTimersByTime(10_000);
    expect(tick).toHaveBeenCalledTimes(3);
  });

  it('ends an attempt and its connection when the caller aborts it', async () => {
    const { outcome, tick, leaving, socket } = await pending();
    leaving.abort();
    await expect(outcome).rejects.toThrow('This operation was aborted');
    await closed(socket);
    vi.advanceTimersByTime(10_000);
    expect(tick).not.toHaveBeenCalled();
  });
});

describe('a connection', () => {
  it('uses only https: in a deployment', async () => {
    const outcome = await httpPost('public')(to('http://93.184.215.14/'));
    expect(outcome).toMatchObject({ statusCode: null, error: 'address_not_public' });
  });

  it('is reused, and a dropped connection is no failure of the endpoint', async () => {
    const warned = vi.spyOn(process, 'emitWarning');
    const { connections, url } = await endpoint(OK);
    for (let i = 0; i < 20; i++) expect(await post(to(url))).toMatchObject(ok);
    expect(connections).toHaveLength(1);
    expect(warned, 'a kept connection keeps no listener').not.toHaveBeenCalled();
    connections[0]?.destroy();
    expect(await post(to(url))).toMatchObject(ok);
    expect(connections).toHaveLength(2);
  });

  it('is closed after it was idle', async () => {
    const { connections, url } = await endpoint(OK);
    expect(await httpPost('any', { idleMs: 50 })(to(url))).toMatchObject(ok);
    await closed(connections[0]);
  });

  it('is not reused after the function was frozen for long', async () => {
    const { connections, url } = await endpoint(OK);
    vi.useFakeTimers({ toFake: ['Date'] });
    try {
      const post = httpPost('any');
      for (const [frozenMs, count] of [
        [3000, 1],
        [4000, 2],
      ] as const) {
        expect(await post(to(url))).toMatchObject(ok);
        vi.setSystemTime(Date.now() + frozenMs);
        expect(await post(to(url))).toMatchObject(ok);
        expect(connections).toHaveLength(count);
      }
    } finally {
      vi.useRealTimers();
    }
  });

  it('is one of at most 64 for any number of endpoints', async () => {
    const open = new Set<net.Socket>();
    const many = httpPost('any');
    for (let endpoints = 1; endpoints <= 80; endpoints++) {
      const server = http.createServer({ keepAliveTimeout: 60_000 }, (_, response) => response.end('ok'));
      server.on('connection', (socket) => {
        open.add(socket);
        socket.on('close', () => open.delete(socket));
      });
      expect(await many(to(`http://127.0.0.1:${await listen(server)}/`))).toMatchObject(ok);
    }
    await expect.poll(() => open.size, { timeout: 60_000 }).toBe(64);
  });
});
