import type net from 'node:net';
import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { postOf } from '../../../lib/deliveries/attempt.ts';
import { httpPost } from '../../../lib/deliveries/http-post.ts';
import { type Behavior, endpoint, resetAfter, stopTime } from '../../support/endpoints.ts';
import { event, now, webhook } from '../../unit/deliveries/builders.ts';

stopTime();
const post = httpPost('any');
/** Makes an attempt with the headers of a delivery. */
const attempt = (url: string) => post(postOf(1, webhook({ url }), event(), now));
const OK = 'HTTP/1.1 200 OK\r\n';
const CHUNKS = '2\r\nok\r\n0\r\n\r\n';
/** The excerpt is `ok` unless the case has another one. */
type Case = [
  name: string,
  behavior: Behavior,
  statusCode?: number | null,
  error?: string | null,
  excerpt?: string | null,
];

/** Writes parts that the other end receives separately. */
const parts =
  (...texts: string[]) =>
  (socket: net.Socket): void => {
    const [first, ...rest] = texts;
    socket.write(first ?? '', () => setImmediate(() => (rest.length > 0 ? parts(...rest)(socket) : undefined)));
  };
const ends = (text: string) => (socket: net.Socket) => void socket.end(text);
const headers = (bytes: number) => {
  const header = `X-Policy: ${'x'.repeat(1000)}\r\n`;
  return `${OK}${header.repeat(bytes / 1024)}Content-Length: 2\r\n\r\nok`;
};

const old: Case[] = [
  ['lines that end with LF', 'HTTP/1.1 200 OK\nServer: old\nContent-Length: 2\n\nok'],
  ['lines that end with LF, until the connection is closed', ends('HTTP/1.0 200 OK\nServer: old\n\nok')],
  ['lines that end with LF, in parts', parts('HTTP/1.0 200 OK\n', 'Content-Length: 2\n', '\n', 'o', 'k')],
  ['lines that end with LF or CRLF', 'HTTP/1.1 200 OK\r\nServer: old\nContent-Length: 2\n\r\nok'],
  ['LF after an interim response', `HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\nContent-Length: 2\n\nok`],
  ['LF and a failure', 'HTTP/1.1 500 Error\nContent-Length: 2\n\nok', 500, 'status_not_2xx'],
  ['a folded header', `${OK}X-Long: one\r\n  two\r\n\tthree\r\nContent-Length: 2\r\n\r\nok`],
  ['the same length twice', `${OK}Content-Length: 2\r\nContent-Length: 2\r\n\r\nok`],
  ['the same length twice in one header', `${OK}Content-Length: 2, 2\r\n\r\nok`],
  ['a length before chunks', `${OK}Content-Length: 9\r\nTransfer-Encoding: chunked\r\n\r\n${CHUNKS}`],
  ['a length after chunks', `${OK}Transfer-Encoding: chunked\r\ncontent-length: 9\r\n\r\n${CHUNKS}`],
  ['the same length twice, with spaces and LF', 'HTTP/1.1 200 OK \nContent-Length: 2 \nContent-Length: 2 \r\n\r\nok'],
  [
    'chunks, the length of something else and Brotli by name',
    `${OK}Content-Encoding: br\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n${CHUNKS}`,
    200,
    null,
    '(br)',
  ],
  ['the coding identity', 'HTTP/1.0 200 OK\r\nTransfer-Encoding: identity\r\nContent-Length: 2\r\n\r\nok'],
  ['HTTP/1.0', ends('HTTP/1.0 200 OK\r\n\r\nok')],
  ['HTTP/1.0 and a kept connection', 'HTTP/1.0 200 OK\r\nConnection: keep-alive\r\nContent-Length: 2\r\n\r\nok'],
];

const unusual: Case[] = [
  ['no reason phrase', 'HTTP/1.1 200\r\nContent-Length: 2\r\n\r\nok'],
  ['names in lower case', `${OK}content-length: 2\r\n\r\nok`],
  ['no space after the colon', `${OK}Content-Length:2\r\n\r\nok`],
  ['a header in UTF-8', `${OK}X-City: Köln\r\nContent-Length: 2\r\n\r\nok`],
  ['an empty header', `${OK}X-Empty:\r\nContent-Length: 2\r\n\r\nok`],
  ['a blank line before it', `\r\n${OK}Content-Length: 2\r\n\r\nok`],
  ['chunks with an extension', `${OK}Transfer-Encoding: Chunked\r\n\r\n2;name=value\r\nok\r\n0\r\n\r\n`],
  ['chunks with a trailer', `${OK}Transfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\nX-Sum: 1\r\n\r\n`],
  ['a line break after the body', `${OK}Connection: close\r\nContent-Length: 2\r\n\r\nok\r\n`],
  ['early hints', `HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n${OK}Content-Length: 2\r\n\r\nok`],
  ['one byte after the other', parts(...`${OK}Content-Length: 2\r\n\r\nok`)],
  ['20 KiB of headers', headers(20 * 1024)],
  ['60 KiB of headers', headers(60 * 1024)],
  ['200 without a body', `${OK}Content-Length: 0\r\n\r\n`, 200, null, null],
  ['201', 'HTTP/1.1 201 Created\r\nLocation: /1\r\nContent-Length: 2\r\n\r\nok', 201],
  ['204', 'HTTP/1.1 204 No Content\r\n\r\n', 204, null, null],
  ['204 with a length', 'HTTP/1.1 204 No Content\r\nContent-Length: 0\r\n\r\n', 204, null, null],
  ['205 until the connection is closed', ends('HTTP/1.1 205 Reset\r\n\r\n'), 205, null, null],
  ['207', 'HTTP/1.1 207 Multi-Status\r\nContent-Length: 2\r\n\r\nok', 207],
  ['a reset after the complete response', (socket) => resetAfter(socket, `${OK}Content-Length: 2\r\n\r\nok`)],
];

const failures: Case[] = [
  ['300', 'HTTP/1.1 300 Multiple\r\nContent-Length: 2\r\n\r\nok', 300, 'status_not_2xx'],
  ['304', 'HTTP/1.1 304 Not Modified\r\n\r\n', 304, 'status_not_2xx', null],
  ['308', 'HTTP/1.1 308 Moved\r\nLocation: /x/\r\nContent-Length: 2\r\n\r\nok', 308, 'redirect_not_followed'],
  [
    '302 to a login',
    'HTTP/1.1 302 Found\r\nLocation: /login\r\nContent-Length: 0\r\n\r\n',
    302,
    'redirect_not_followed',
    null,
  ],
  [
    'a control character in a header',
    `${OK}X-Bad: \u0001\r\nContent-Length: 2\r\n\r\nok`,
    null,
    'response_invalid',
    null,
  ],
  ['headers that do not end', ends('HTTP/1.1 301 Moved\r\nLocation: /\r\n'), null, 'connection_reset', null],
  ['no headers', ends('\r\n<html>ok</html>'), null, 'response_invalid', null],
  ['410', 'HTTP/1.1 410 Gone\r\nContent-Length: 2\r\n\r\nok', 410, 'status_not_2xx'],
  [
    '413 before the body, and a closed connection',
    ends('HTTP/1.1 413 Large\r\nConnection: close\r\n\r\nok'),
    413,
    'status_not_2xx',
  ],
  ['429', 'HTTP/1.1 429 Busy\r\nRetry-After: 60\r\nContent-Length: 2\r\n\r\nok', 429, 'status_not_2xx'],
  ['527 of a proxy', 'HTTP/1.1 527 Railgun Error\r\nContent-Length: 2\r\n\r\nok', 527, 'status_not_2xx'],
];

const text = (header: string, body: Buffer) => (socket: net.Socket) => {
  socket.write(`HTTP/1.1 400 Bad\r\n${header}\r\nContent-Length: ${body.length}\r\n\r\n`);
  socket.write(body);
};
const plain = (charset: string, ...bytes: number[]) =>
  text(`Content-Type: text/plain; charset=${charset}`, Buffer.from(bytes));
const json = Buffer.from('{"error":"Prüfsumme"}');
const page = Buffer.from(`${'Fehler. '.repeat(1000)}`);
const bodies: Case[] = [
  ['a gzip error page', text('Content-Encoding: gzip', gzipSync(json)), 400, 'status_not_2xx', String(json)],
  [
    'a long gzip error page',
    text('Content-Encoding: gzip', gzipSync(page)),
    400,
    'status_not_2xx',
    String(page).slice(0, 1024),
  ],
  ['deflate', text('Content-Encoding: deflate', deflateSync(json)), 400, 'status_not_2xx', String(json)],
  ['Brotli', text('Content-Encoding: br', brotliCompressSync(json)), 400, 'status_not_2xx', '(br)'],
  ['gzip that is none', text('Content-Encoding: gzip', json), 400, 'status_not_2xx', '(gzip)'],
  ['no coding by name', text('Content-Encoding: identity', json), 400, 'status_not_2xx', String(json)],
  [
    'ISO-8859-1',
    plain('ISO-8859-1', 0x55, 0x6e, 0x67, 0xfc, 0x6c, 0x74, 0x69, 0x67),
    400,
    'status_not_2xx',
    'Ungültig',
  ],
  ['Windows-1251', plain('"windows-1251"', 0xce, 0xf8, 0xe8, 0xe1, 0xea, 0xe0), 400, 'status_not_2xx', 'Ошибка'],
  ['Shift_JIS', plain('Shift_JIS', 0x83, 0x47, 0x83, 0x89, 0x81, 0x5b), 400, 'status_not_2xx', 'エラー'],
  ['UTF-16', plain('utf-16le', 0x6e, 0, 0x6f, 0), 400, 'status_not_2xx', 'no'],
  ['UTF-8 with a byte order mark', plain('utf8', 0xef, 0xbb, 0xbf, 0x6e, 0x6f), 400, 'status_not_2xx', 'no'],
  ['an unknown charset', plain('klingon', 0x6e, 0x6f), 400, 'status_not_2xx', 'no'],
];

describe.each([
  ['a response in an old form', old],
  ['an unusual response', unusual],
  ['a response that is a failure', failures],
  ['a response with a body in', bodies],
])('%s', (_, cases) => {
  it.each(cases)('%s', async (_, behavior, statusCode = 200, error = null, excerpt = 'ok') => {
    const server = await endpoint(behavior);
    expect(await attempt(server.url)).toMatchObject({ statusCode, error, excerpt });
    expect(server.posts).toBe(1);
  });
});

it.each(
  old.filter(([, , , , excerpt]) => excerpt === undefined).slice(0, 11),
)('a connection is not reused after a response with %s', async (_, behavior) => {
  const server = await endpoint(behavior);
  for (const count of [1, 2]) {
    expect(await attempt(server.url)).toMatchObject({ excerpt: 'ok' });
    expect(server.connections).toHaveLength(count);
    expect(server.posts).toBe(count);
  }
});
