import { readFileSync } from 'node:fs';
import http from 'node:http';
import https from 'node:https';
import net, { type AddressInfo } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { receiver } from '../../lib/aws/receiver.ts';

const open: net.Server[] = [];
afterEach(() => {
  for (const server of open.splice(0)) server.close();
});

async function listening(server: net.Server): Promise<number> {
  open.push(server);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return (server.address() as AddressInfo).port;
}
const pem = (name: string) => readFileSync(new URL(`../support/self-signed.${name}.pem`, import.meta.url));
const post = receiver('any');
const postTo = (url: string) => post({ url, headers: {}, body: '{}' });
/** A server that writes these bytes and does with the connection what is said. */
const raw = (text: string, then: (socket: net.Socket) => void = () => {}) =>
  listening(
    net.createServer((socket) => {
      socket.on('error', () => {});
      socket.once('data', () => socket.write(text, () => then(socket)));
    }),
  );

describe('an answer', () => {
  it('has its outcome decided by its status, within 5 seconds in all', { timeout: 20_000 }, async () => {
    const head = 'HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\n';
    const cases: [number, object][] = [
      [await raw('HTTP/1.1 204 No Content\r\n\r\n'), { statusCode: 204, error: null, excerpt: null }],
      [await raw('HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok'), { statusCode: 200, error: null, excerpt: 'ok' }],
      [
        await raw('HTTP/1.1 404 No\r\nContent-Length: 2\r\n\r\nno'),
        { statusCode: 404, error: 'status_not_2xx', excerpt: 'no' },
      ],
      [
        await raw('HTTP/1.1 301 Moved\r\nLocation: /\r\nContent-Length: 0\r\n\r\n'),
        { statusCode: 301, error: 'redirect_not_followed' },
      ],
      [
        await raw(`${head}part`, (socket) => socket.end()),
        { statusCode: 200, error: 'response_truncated', excerpt: 'part' },
      ],
      [
        await raw(head + 'x'.repeat(70_000)),
        { statusCode: 200, error: 'response_too_large', excerpt: 'x'.repeat(1024) },
      ],
      [await raw(`${head}slow`), { statusCode: 200, error: 'timeout', excerpt: 'slow' }],
      [
        await raw('HTTP/1.1 500 No\r\nContent-Length: 9\r\n\r\nslow'),
        { statusCode: 500, error: 'timeout', excerpt: 'slow' },
      ],
      [await raw(''), { statusCode: null, error: 'timeout' }],
      [await raw('HTTP/1.1 200 OK\r\nX: '), { statusCode: null, error: 'timeout' }],
      [await raw('SSH-2.0-OpenSSH\r\n'), { statusCode: null, error: 'response_invalid' }],
      [
        await raw(`HTTP/1.1 200 OK\r\nX: ${'x'.repeat(20_000)}\r\n\r\n`),
        { statusCode: null, error: 'response_too_large' },
      ],
      [await raw('', (socket) => socket.resetAndDestroy()), { statusCode: null, error: 'connection_reset' }],
    ];
    await Promise.all(
      cases.map(async ([port, outcome]) => expect(await postTo(`http://127.0.0.1:${port}/`)).toMatchObject(outcome)),
    );
  });

  it('keeps text only, cut between characters', async () => {
    const port = await raw(`HTTP/1.1 200 OK\r\nContent-Length: 2055\r\n\r\n\u0000\u001b[1m\u202e${'é'.repeat(1023)}x`);
    const { excerpt } = await postTo(`http://127.0.0.1:${port}/`);
    expect(excerpt).toMatch(/^\[1mé+$/);
    expect(Buffer.byteLength(excerpt ?? '')).toBeLessThanOrEqual(1024);
  });
});

describe('a connection', () => {
  it('that cannot be made is recorded with its own reason', async () => {
    const closed = await raw('');
    for (const server of open.splice(0)) server.close();
    expect(await postTo(`http://127.0.0.1:${closed}/`)).toMatchObject({
      statusCode: null,
      error: 'connection_refused',
    });
    expect((await postTo('http://nothing.invalid/')).error).toMatch(/^dns_(not_found|failed)$/);
  });

  it('is TLS 1.3 with a certificate that is valid for the host', async () => {
    const selfSigned = { key: pem('key'), cert: pem('cert') };
    const modern = await listening(https.createServer(selfSigned));
    expect(await postTo(`https://127.0.0.1:${modern}/`)).toMatchObject({
      statusCode: null,
      error: 'certificate_invalid',
    });
    const dated = await listening(https.createServer({ ...selfSigned, maxVersion: 'TLSv1.2' }));
    expect(await postTo(`https://127.0.0.1:${dated}/`)).toMatchObject({ statusCode: null, error: 'tls_failed' });
    const plain = await raw('hello');
    expect(await postTo(`https://127.0.0.1:${plain}/`)).toMatchObject({ statusCode: null, error: 'tls_failed' });
  });

  it('is made to public addresses only', async () => {
    const guarded = receiver('public');
    const refused = { statusCode: null, error: 'address_not_public' };
    for (const url of [
      'https://127.0.0.1/',
      'https://[::1]/',
      'https://localhost/',
      'https://[::ffff:10.0.0.1]/',
      'http://93.184.215.14/',
    ]) {
      expect(await guarded({ url, headers: {}, body: '' })).toMatchObject(refused);
    }
  });

  it('is kept, and one that died meanwhile is no failure of the receiver', async () => {
    let connections = 0;
    let requests = 0;
    const server = http.createServer((_, response) => {
      requests++;
      response.end('ok');
    });
    server.on('connection', () => connections++);
    const port = await listening(server);
    const url = `http://127.0.0.1:${port}/`;
    for (let i = 0; i < 3; i++) expect((await postTo(url)).statusCode).toBe(200);
    expect(connections).toBe(1);
    server.removeAllListeners('request');
    server.once('request', (request) => {
      request.socket.resetAndDestroy();
      server.on('request', (_, response) => response.end('ok'));
    });
    expect((await postTo(url)).statusCode).toBe(200);
    expect(connections).toBe(2);
    expect(requests).toBe(3);
  });
});
