import { EventEmitter, once } from 'node:events';
import http from 'node:http';
import net, { type AddressInfo } from 'node:net';
import { afterEach, beforeEach, expect, vi } from 'vitest';
import { ATTEMPT_TIMEOUT_MS, type Outcome } from '../../lib/deliveries/attempt.ts';
import type { HttpPost } from '../../lib/deliveries/http-post.ts';
import { afterFile } from './after-file.ts';

/** Starts a server on the loopback interface until the tests of the file have ended, and returns its port. */
export async function listen(server: net.Server): Promise<number> {
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
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return (server.address() as AddressInfo).port;
}

/** Returns a free port. */
export async function freePort(): Promise<number> {
  const server = net.createServer();
  const port = await listen(server);
  await new Promise((resolve) => server.close(resolve));
  return port;
}

/** The behavior of an endpoint: a text to write, or a function. */
export type Behavior = string | ((socket: net.Socket, count: number) => void);

export interface Endpoint {
  url: string;
  /** The number of POSTs so far, including repeated ones. */
  posts: number;
  connections: net.Socket[];
  /** Resolves when that many POSTs have been processed. */
  until(posts: number): Promise<void>;
}

/** An endpoint that can violate every protocol rule. */
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

/** Writes the same text while the other end reads. */
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

/** Resets a connection after its other end, in the same process, has read all data. */
export function resetAfter(socket: net.Socket, text: string): void {
  socket.write(text);
  setImmediate(() => setImmediate(() => socket.resetAndDestroy())); // the other end reads between the two
}

/** Resolves once a connection is closed. */
export const closed = (socket: net.Socket | undefined): Promise<void> =>
  new Promise((resolve) => (!socket || socket.closed ? resolve() : socket.once('close', () => resolve())));

/**
 * Stops time for attempts in the tests of a file, so that a busy machine does not look like a slow endpoint. Tests advance it.
 * Sockets, name servers and `setInterval` use the real time.
 */
export function stopTime(): void {
  beforeEach(
    () =>
      void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'setInterval', 'clearInterval', 'performance'] }),
  );
  afterEach(() => void vi.useRealTimers());
}

let healthyUrl: Promise<string> | undefined;
/** A healthy endpoint for all tests of the file. */
async function healthy(): Promise<string> {
  afterFile(() => {
    healthyUrl = undefined;
  });
  const server = http.createServer((request, response) => request.resume().on('end', () => response.end('ok')));
  return `http://127.0.0.1:${await listen(server)}/`;
}

/**
 * Posts to an endpoint, and concurrently to a healthy one, which must not be affected.
 *
 * @param hanging resolves when the endpoint hangs, if it does. Then the time limit of the attempt passes.
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
    await undisturbed(); // all data of the hanging endpoint has been read
    vi.advanceTimersByTime(ATTEMPT_TIMEOUT_MS);
  }
  return outcome;
}
