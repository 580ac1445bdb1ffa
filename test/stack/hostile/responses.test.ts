import { gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { httpPost } from '../../../lib/deliveries/http-post.ts';
import {
  type Behavior,
  besideHealthy,
  closed,
  endpoint,
  flood,
  resetAfter,
  stopTime,
  trickle,
} from '../../support/endpoints.ts';

stopTime();
const post = httpPost('any');
const OK = 'HTTP/1.1 200 OK\r\n';
const CHUNKED = `${OK}Transfer-Encoding: chunked\r\n\r\n`;
const SWITCHING = 'HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\n';
const length = (value: string | number) => `${OK}Content-Length: ${value}\r\n\r\n`;
type Case = [name: string, behavior: Behavior, statusCode: number | null, error: string | null];

const hanging: Case[] = [
  ['after the request', () => {}, null, 'timeout'],
  ['in the status line', 'HTTP/1.1 20', null, 'timeout'],
  ['after the status line', OK, null, 'timeout'],
  ['in a header', `${OK}X-Header: `, null, 'timeout'],
  ['after the headers', length(10), 200, 'timeout'],
  ['in the body', `${length(10)}part`, 200, 'timeout'],
  ['in a chunk', `${CHUNKED}5\r\npart`, 200, 'timeout'],
  ['before the last chunk', `${CHUNKED}4\r\npart\r\n`, 200, 'timeout'],
  ['in the trailers', `${CHUNKED}0\r\nX-Trailer: `, 200, 'timeout'],
  ['after an interim response', 'HTTP/1.1 100 Continue\r\n\r\n', null, 'timeout'],
  ['one header byte at a time', (socket) => void socket.write(`${OK}X: `, () => trickle(socket)), null, 'timeout'],
  ['one body byte at a time', (socket) => void socket.write(length(9999), () => trickle(socket)), 200, 'timeout'],
];

const upgrades: Case[] = [
  ['101', 'HTTP/1.1 101 Switching Protocols\r\n\r\n', 101, 'response_invalid'],
  ['101 with Upgrade', SWITCHING, 101, 'response_invalid'],
  ['101 with Upgrade, and data after', `${SWITCHING}\x81\x05hello`, 101, 'response_invalid'],
  ['101 and a reset', (socket) => resetAfter(socket, SWITCHING), 101, 'response_invalid'],
  ['101 and 200', `${SWITCHING}${length(0)}`, 101, 'response_invalid'],
  ['200 with Upgrade', `${OK}Upgrade: h2c\r\nConnection: Upgrade\r\nContent-Length: 2\r\n\r\nok`, 200, null],
  ['a few interim responses', `${'HTTP/1.1 102 Processing\r\n\r\n'.repeat(3)}${length(2)}ok`, 200, null],
];

const framing: Case[] = [
  ['Content-Length too long', (socket) => socket.end(`${length(10)}part`), 200, 'response_truncated'],
  ['Content-Length too short', `${length(2)}ok and more`, 200, null],
  ['Content-Length negative', `${length(-1)}ok`, null, 'response_invalid'],
  ['Content-Length beyond 64 bits', `${length('99999999999999999999')}ok`, null, 'response_invalid'],
  ['Content-Length twice', `${OK}Content-Length: 2\r\nContent-Length: 3\r\n\r\nok!`, null, 'response_invalid'],
  ['Content-Length and chunks', `${OK}Content-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n`, 200, null],
  ['an unknown Transfer-Encoding', (socket) => socket.end(`${OK}Transfer-Encoding: magic\r\n\r\nok`), 200, null],
  ['a chunk longer than it says', `${CHUNKED}2\r\nlonger\r\n0\r\n\r\n`, 200, 'response_invalid'],
  ['a chunk shorter than it says', `${CHUNKED}9\r\nok\r\n0\r\n\r\n`, 200, 'timeout'],
  ['a chunk size that is none', `${CHUNKED}size\r\nok\r\n`, 200, 'response_invalid'],
  ['a chunk size beyond 64 bits', `${CHUNKED}fffffffffffffffff\r\nok\r\n`, 200, 'response_invalid'],
];

const strange: Case[] = [
  ['HTTP/0.9', (socket) => socket.end('<html>hello</html>'), null, 'response_invalid'],
  ['a preface of HTTP/2', 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n', null, 'response_invalid'],
  ['SSH', 'SSH-2.0-OpenSSH_9.6\r\n', null, 'response_invalid'],
  ['random bytes', '\x1f\x8b\x08\xff\x00\xfe\x80', null, 'response_invalid'],
  ['NUL in a header', `${OK}X: a\0b\r\nContent-Length: 0\r\n\r\n`, null, 'response_invalid'],
  ['a header without a name', `${OK}: nameless\r\n\r\n`, null, 'response_invalid'],
  ['status 000', 'HTTP/1.1 000 Zero\r\nContent-Length: 0\r\n\r\n', 0, 'response_invalid'],
  ['status 99', 'HTTP/1.1 99 Few\r\nContent-Length: 0\r\n\r\n', null, 'response_invalid'],
  ['status 999', 'HTTP/1.1 999 Many\r\nContent-Length: 0\r\n\r\n', 999, 'status_not_2xx'],
  ['status OK', 'HTTP/1.1 OK\r\nContent-Length: 0\r\n\r\n', null, 'response_invalid'],
];

const redirects: Case[] = [301, 302, 303, 307, 308].flatMap((status): Case[] =>
  ['/', 'http://169.254.169.254/latest/meta-data/'].map((location) => [
    `${status} to ${location}`,
    `HTTP/1.1 ${status} Moved\r\nLocation: ${location}\r\nContent-Length: 0\r\n\r\n`,
    status,
    'redirect_not_followed',
  ]),
);

const broken: Case[] = [
  ['closed', (socket) => socket.destroy(), null, 'connection_reset'],
  ['closed for writing only', (socket) => socket.end(), null, 'connection_reset'],
  ['reset', (socket) => socket.resetAndDestroy(), null, 'connection_reset'],
  ['closed in the headers', (socket) => socket.end(`${OK}X: `), null, 'connection_reset'],
  ['reset in the headers', (socket) => resetAfter(socket, `${OK}X: `), null, 'connection_reset'],
  ['reset in the body', (socket) => resetAfter(socket, `${length(9)}x`), 200, 'response_truncated'],
  ['closed in a chunk', (socket) => socket.end(`${CHUNKED}9\r\nx`), 200, 'response_truncated'],
];

describe.each([
  ['a response that hangs', hanging],
  ['a response that switches protocols', upgrades],
  ['a response with a body that is not as announced', framing],
  ['a response that is not HTTP', strange],
  ['a redirect', redirects],
  ['a connection that breaks', broken],
])('%s', (_, cases) => {
  it.each(cases)('%s', async (_, behavior, statusCode, error) => {
    const hostile = await endpoint(behavior);
    const hanging = error === 'timeout' ? hostile.until(1) : undefined;
    expect(await besideHealthy(post, hostile.url, hanging)).toMatchObject({ statusCode, error });
    expect(hostile.posts).toBe(1);
  });
});

it('keeps the status and the received part of a body that hangs', async () => {
  const hostile = await endpoint(`${length(10)}part`);
  const outcome = await besideHealthy(post, hostile.url, hostile.until(1));
  expect(outcome).toMatchObject({ statusCode: 200, error: 'timeout', excerpt: 'part' });
});

it('decompresses only the start of a compressed bomb', async () => {
  const bomb = gzipSync(Buffer.alloc(32 * 1024 * 1024));
  const { url } = await endpoint((socket) => {
    socket.write(`${OK}Content-Encoding: gzip\r\nContent-Length: ${bomb.length}\r\n\r\n`);
    socket.write(bomb);
  });
  expect(bomb.length).toBeLessThan(64 * 1024);
  const { statusCode, error, excerpt } = await besideHealthy(post, url);
  expect({ statusCode, error }).toEqual({ statusCode: 200, error: null });
  expect(excerpt?.length).toBeLessThanOrEqual(1024);
});

/** The maximum size of the buffers of both sockets. */
const MAX_SENT_BYTES = 16 * 1024 * 1024;

const interim = (status: string) => `HTTP/1.1 ${status}\r\n\r\n`;

// The time stands still, so the time limit never ends a flood.
describe('a flood', () => {
  it.each([
    ['100 Continue', '', interim('100 Continue'), null, 'response_invalid'],
    ['102 Processing', '', interim('102 Processing'), null, 'response_invalid'],
    ['103 Early Hints', '', `HTTP/1.1 103\r\nLink: </${'x'.repeat(4000)}>\r\n\r\n`, null, 'response_invalid'],
    ['blank lines before the response', '', '\r\n', null, 'response_too_large'],
    ['a reason phrase', 'HTTP/1.1 200 ', 'x', null, 'response_too_large'],
    ['headers', OK, 'X: y\r\n', null, 'response_too_large'],
    ['one header', `${OK}X: `, 'x', null, 'response_too_large'],
    ['the name of a header', OK, 'x', null, 'response_too_large'],
    ['a body with a length', `${OK}Content-Length: 99999999999\r\n\r\n`, 'x', 200, 'response_too_large'],
    ['a body without one', `${OK}\r\n`, 'x', 200, 'response_too_large'],
    ['chunks of one byte', CHUNKED, '1\r\nx\r\n', 200, 'response_too_large'],
    ['one chunk', `${CHUNKED}ffffffff\r\n`, 'x', 200, 'response_too_large'],
    ['zeros before the size of a chunk', CHUNKED, '0', 200, 'response_too_large'],
    ['one extension of a chunk', `${CHUNKED}1;x=`, 'x', 200, 'response_invalid'],
    ['extensions of chunks', CHUNKED, `1;x=${'x'.repeat(15_000)}\r\nx\r\n`, 200, 'response_too_large'],
    ['trailers', `${CHUNKED}0\r\n`, 'X: y\r\n', 200, 'response_too_large'],
    ['one trailer', `${CHUNKED}0\r\nX: `, 'x', 200, 'response_too_large'],
    ['responses', '', `${OK}Content-Length: 0\r\n\r\n`, 200, null],
  ])('is stopped: %s', async (_, head, unit, statusCode, error) => {
    const hostile = await endpoint((socket) => {
      socket.write(head);
      flood(socket, unit);
    });
    expect(await besideHealthy(post, hostile.url)).toMatchObject({ statusCode, error });
    const [socket] = hostile.connections;
    await closed(socket);
    expect(socket?.bytesWritten).toBeLessThan(MAX_SENT_BYTES);
    expect(hostile.posts).toBe(1);
  });
});
