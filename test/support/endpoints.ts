import { EventEmitter, once } from 'node:events';
import http from 'node:http';
import net, { type AddressInfo } from 'node:net';
import { afterEach, beforeEach, expect, vi } from 'vitest';
import type { HttpPost } from '../../lib/aws/http-post.ts';
import type { Outcome } from '../../lib/deliveries/attempt.ts';
import { ATTEMPT_TIMEOUT_MS } from '../../lib/delivery/post.ts';
import { afterFile } from './after-file.ts';

/** The port of a server that runs until the tests of the file are over. */
export async function listen(server: net.Server, host = '127.0.0.1'): Promise<number> {
  const sockets = new Set<net.Socket>();
  afterFile(() => {
    server.close();
    for (const socket of sockets) socket.destroy();
  });
  server.on('connection', (socket: net.Socket) => {
    sockets.add(socket);
    socket.on('error', () => {}).on('close', () => sockets.delete(socket));
  });
  server.on('secureConnection', (socket: net.Socket) => socket.on('error', () => {}));
  await new Promise<void>((resolve) => server.listen(0, host, resolve));
  return (server.address() as AddressInfo).port;
}

/** On which nothing listens. */
export async function freePort(): Promise<number> {
  const server = net.createServer();
  const port = await listen(server);
  await new Promise((resolve) => server.close(resolve));
  return port;
}

/** What an endpoint does with a request: writes this, or anything else. */
export type Behavior = string | ((socket: net.Socket, count: number) => void);

export interface Endpoint {
  url: string;
  /** POSTs so far, repeated ones included. */
  posts: number;
  connections: net.Socket[];
  /** Once that many POSTs have been dealt with. */
  until(posts: number): Promise<void>;
}

/** An endpoint that is free to break every rule. */
export async function endpoint(behavior: Behavior): Promise<Endpoint> {
  const dealtWith = new EventEmitter();
  const started: Endpoint = {
    url: '',
    posts: 0,
    connections: [],
    async until(posts) {
      while (started.posts < posts) await once(dealtWith, 'post');
    },
  };
  const server = net.createServer({ allowHalfOpen: true }, (socket) => {
    started.connections.push(socket);
    socket.on('end', () => socket.destroy());
    socket.on('data', (request) => {
      if (!request.includes('POST /')) return;
      started.posts++;
      if (typeof behavior === 'string') socket.write(behavior);
      else behavior(socket, started.posts);
      dealtWith.emit('post');
    });
  });
  started.url = `http://127.0.0.1:${await listen(server)}/`;
  return started;
}

/** Writes the same for as long as somebody reads. */
export function flood(socket: net.Socket, unit: string): void {
  const block = Buffer.from(unit.repeat(Math.ceil(65_536 / unit.length)));
  const write = () => {
    if (!socket.destroyed) socket.write(block, () => setImmediate(write));
  };
  write();
}

/** Writes one byte at a time, without end. */
export function trickle(socket: net.Socket): void {
  const timer = setInterval(() => socket.write('x'), 10);
  socket.on('close', () => clearInterval(timer));
}

/** Resets a connection once its other end, in this process too, has read what was written. */
export function resetAfter(socket: net.Socket, text: string): void {
  socket.write(text);
  setImmediate(() => setImmediate(() => socket.resetAndDestroy())); // it reads between the two
}

/** Resolves once a connection is closed. */
export const closed = (socket: net.Socket | undefined): Promise<void> =>
  new Promise((resolve) => (!socket || socket.closed ? resolve() : socket.once('close', () => resolve())));

/**
 * Makes time stand still for attempts in the tests of a file, and pass only when they say so: a busy machine is no slow
 * endpoint. Sockets, name servers and `setInterval` keep the real time.
 */
export function stopTime(): void {
  beforeEach(
    () =>
      void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'setInterval', 'clearInterval', 'performance'] }),
  );
  afterEach(() => void vi.useRealTimers());
}

let healthyUrl: Promise<string> | undefined;
/** An endpoint as it should be: one for all tests of the file. */
async function healthy(): Promise<string> {
  afterFile(() => {
    healthyUrl = undefined;
  });
  const server = http.createServer((request, response) => request.resume().on('end', () => response.end('ok')));
  return `http://127.0.0.1:${await listen(server)}/`;
}

/**
 * Posts to an endpoint, and at the same time to a healthy one, which must not notice.
 *
 * @param hanging if the endpoint hangs, resolves once it does: then the time of the attempt passes.
 */
export async function besideHealthy(post: HttpPost, url: string, hanging?: Promise<unknown>): Promise<Outcome> {
  healthyUrl ??= healthy();
  const healthyPost = { url: await healthyUrl, headers: {}, body: '{}' };
  const outcome = post({ url, headers: {}, body: '{}' });
  const undisturbed = async () => {
    for (const other of await Promise.all([1, 2, 3].map(() => post(healthyPost))))
      expect(other).toMatchObject({ statusCode: 200, error: null });
  };
  await undisturbed();
  if (hanging) {
    await hanging;
    await undisturbed(); // and what the hanging endpoint had to say has been read
    vi.advanceTimersByTime(ATTEMPT_TIMEOUT_MS);
  }
  return outcome;
}
