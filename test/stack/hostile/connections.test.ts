import { once } from 'node:events';
import net from 'node:net';
import { Worker } from 'node:worker_threads';
import { describe, expect, it, vi } from 'vitest';
import { ATTEMPT_TIMEOUT_MS } from '../../../lib/deliveries/attempt.ts';
import { httpPost } from '../../../lib/deliveries/http-post.ts';
import { besideHealthy, closed, endpoint, listen, resetAfter, stopTime } from '../../support/endpoints.ts';

stopTime();
const post = httpPost('any');
const to = (url: string) => post({ url, headers: {}, body: '{}' });
const response = (text: string) => `HTTP/1.1 200 OK\r\nContent-Length: ${text.length}\r\n\r\n${text}`;
const ok = { statusCode: 200, error: null };
const reset = { statusCode: null, error: 'connection_reset' };

describe('a reused connection', () => {
  it.each([
    ['a second response', response('smuggled')],
    ['half a second response', response('smuggled').slice(0, 20)],
    ['garbage', 'garbage'],
  ])('does not use %s for the next POST', async (_, extra) => {
    const hostile = await endpoint(
      (socket, count) => void socket.write(response(`${count}`) + (count === 1 ? extra : '')),
    );
    expect(await besideHealthy(post, hostile.url)).toMatchObject({ ...ok, excerpt: '1' });
    expect(await besideHealthy(post, hostile.url)).toMatchObject({ ...ok, excerpt: '2' });
    expect(hostile.posts).toBe(2);
  });

  it('is closed after an unexpected response', async () => {
    const hostile = await endpoint((socket, count) => void socket.write(response(`${count}`)));
    expect(await besideHealthy(post, hostile.url)).toMatchObject({ ...ok, excerpt: '1' });
    const [first] = hostile.connections;
    first?.write(response('smuggled'));
    await closed(first);
    expect(await besideHealthy(post, hostile.url)).toMatchObject({ ...ok, excerpt: '2' });
  });

  it('is retried with one POST on a new connection after a reset', async () => {
    const first: net.Socket[] = [];
    const hostile = await endpoint((socket, count) => {
      if (count > 10) return void socket.resetAndDestroy();
      first.push(socket);
      if (count === 10) for (const each of first) each.write(response('ok'));
    });
    for (const outcome of await Promise.all(Array.from({ length: 10 }, () => to(hostile.url))))
      expect(outcome).toMatchObject(ok);
    expect(hostile.connections).toHaveLength(10);
    expect(await besideHealthy(post, hostile.url)).toMatchObject(reset);
    expect(hostile.posts).toBe(12);
    expect(hostile.connections).toHaveLength(11);
  });

  it.each([
    ['part of a response', 'HTTP/1.1 200 OK\r\nX: '],
    ['an interim response', 'HTTP/1.1 102 Processing\r\n\r\n'],
  ])('makes one POST if it is reset after %s', async (_, text) => {
    const hostile = await endpoint((socket, count) => {
      if (count === 1) socket.write(response('ok'));
      else resetAfter(socket, text);
    });
    expect(await to(hostile.url)).toMatchObject(ok);
    expect(await besideHealthy(post, hostile.url)).toMatchObject(reset);
    expect(hostile.posts).toBe(2);
    expect(hostile.connections).toHaveLength(1);
  });

  it('shares the time limit of the attempt with a new connection after a reset', async () => {
    const hostile = await endpoint((socket, count) => {
      if (count === 1) socket.write(response('ok'));
      if (count !== 2) return;
      vi.advanceTimersByTime(ATTEMPT_TIMEOUT_MS - 1000);
      socket.resetAndDestroy();
    });
    expect(await to(hostile.url)).toMatchObject(ok);
    const attempt = to(hostile.url);
    await hostile.until(3);
    vi.advanceTimersByTime(1000);
    expect(await attempt).toMatchObject({ statusCode: null, error: 'timeout', durationMs: ATTEMPT_TIMEOUT_MS });
    expect(hostile.posts).toBe(3);
  });
});

describe('a connection', () => {
  it('is given up if it is never accepted', async () => {
    const worker = new Worker(
      `const { parentPort } = require('node:worker_threads');
       const server = require('node:net').createServer();
       server.listen({ port: 0, host: '127.0.0.1', backlog: 1 }, () => {
         parentPort.postMessage(server.address().port);
         Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0); // and accepts no connections
       });`,
      { eval: true },
    );
    const [port] = await once(worker, 'message');
    // The system accepts connections up to the backlog, and drops later ones.
    const waiting = [net.connect(port, '127.0.0.1'), net.connect(port, '127.0.0.1')];
    await Promise.all(waiting.map((socket) => once(socket, 'connect')));
    const url = `http://127.0.0.1:${port}/`;
    expect(await besideHealthy(post, url, Promise.resolve())).toMatchObject({ statusCode: null, error: 'timeout' });
    for (const socket of waiting) socket.destroy();
    await worker.terminate();
  });

  it('accepts a response before the request', async () => {
    const port = await listen(net.createServer((socket) => void socket.write(response('early'))));
    expect(await besideHealthy(post, `http://127.0.0.1:${port}/`)).toMatchObject(ok);
  });

  it('is given up if the endpoint never reads', async () => {
    const server = net.createServer({ pauseOnConnect: true });
    const url = `http://127.0.0.1:${await listen(server)}/`;
    const attempt = post({ url, headers: {}, body: 'x'.repeat(16 * 1024 * 1024) });
    await once(server, 'connection');
    vi.advanceTimersByTime(ATTEMPT_TIMEOUT_MS);
    expect(await attempt).toMatchObject({ statusCode: null, error: 'timeout' });
  });
});
