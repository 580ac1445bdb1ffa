import { once } from 'node:events';
import http from 'node:http';
import https from 'node:https';
import net from 'node:net';
import tls from 'node:tls';
import { describe, expect, it } from 'vitest';
import { httpPost } from '../../../lib/deliveries/http-post.ts';
import { certificate, pem } from '../../support/certificates/read.ts';
import { besideHealthy, listen, stopTime } from '../../support/endpoints.ts';

tls.setDefaultCACertificates([pem('authority')]);
const valid = certificate('valid');

stopTime();
const post = httpPost('any');
const secure = (options: https.ServerOptions) => () =>
  https.createServer(options, (request, response) => request.resume().on('end', () => response.end('ok')));
/** Reads the first message of the handshake, then runs `then`. */
const handshake = (then: (socket: net.Socket) => void) => () =>
  net.createServer((socket) => void socket.once('data', () => then(socket)));
/** Completes the handshake, then runs `then`. */
const connected = (then: (socket: tls.TLSSocket) => void) => () => tls.createServer(valid, then);
const alert = (description: number) => Buffer.from([21, 3, 3, 0, 2, 2, description]);

describe('TLS', () => {
  it.each<[name: string, start: () => net.Server, statusCode: number | null, error: string | null]>([
    ['is fine', secure(valid), 200, null],
    ['has a certificate that is expired', secure(certificate('expired')), null, 'certificate_invalid'],
    ['has a certificate that is not valid yet', secure(certificate('not-yet-valid')), null, 'certificate_invalid'],
    ['has a certificate for another host', secure(certificate('other-host')), null, 'certificate_invalid'],
    ['has a self-signed certificate', secure(certificate('self-signed')), null, 'certificate_invalid'],
    ['is 1.2 at most', secure({ ...valid, maxVersion: 'TLSv1.2' }), null, 'tls_failed'],
    ['has no certificate', secure({}), null, 'tls_failed'],
    ['hangs at once', () => net.createServer(), null, 'timeout'],
    ['hangs in the handshake', handshake((socket) => void socket.write(Buffer.from([22, 3, 3, 0]))), null, 'timeout'],
    ['hangs after the handshake', connected(() => {}), null, 'timeout'],
    ['is closed in the handshake', handshake((socket) => void socket.end()), null, 'connection_reset'],
    ['is reset in the handshake', handshake((socket) => void socket.resetAndDestroy()), null, 'connection_reset'],
    ['is closed after the handshake', connected((socket) => void socket.end()), null, 'connection_reset'],
    ['is refused by an alert', handshake((socket) => void socket.write(alert(40))), null, 'tls_failed'],
    ['is garbage', handshake((socket) => void socket.write('garbage'.repeat(10))), null, 'tls_failed'],
    ['is plain HTTP', () => http.createServer(), null, 'tls_failed'],
    ['carries 101', connected((socket) => void socket.write('HTTP/1.1 101 X\r\n\r\n')), 101, 'response_invalid'],
  ])('has the expected outcome when it %s', async (_, start, statusCode, error) => {
    const server = start();
    const url = `https://127.0.0.1:${await listen(server)}/`;
    const hanging = error === 'timeout' ? once(server, 'connection') : undefined;
    expect(await besideHealthy(post, url, hanging)).toMatchObject({ statusCode, error });
  });

  it('is not HTTP if plain HTTP was expected', async () => {
    const url = `http://127.0.0.1:${await listen(secure(valid)())}/`;
    const { statusCode, error } = await besideHealthy(post, url);
    expect(statusCode).toBeNull();
    expect(['response_invalid', 'connection_reset']).toContain(error);
  });

  it('verifies the certificate again on a new connection', async () => {
    let posts = 0;
    const server = tls.createServer(valid, (socket) => {
      socket.on('data', () => {
        if (++posts > 1) return void socket.destroy();
        socket.write('HTTP/1.1 204 No Content\r\n\r\n');
        server.setSecureContext(certificate('expired'));
      });
    });
    const url = `https://127.0.0.1:${await listen(server)}/`;
    expect(await besideHealthy(post, url)).toMatchObject({ statusCode: 204, error: null });
    expect(await besideHealthy(post, url)).toMatchObject({ statusCode: null, error: 'certificate_invalid' });
    expect(posts).toBe(2);
  });

  it('is no failure of the endpoint if it was closed while idle', async () => {
    const sockets: tls.TLSSocket[] = [];
    const server = tls.createServer(valid, (socket) => {
      sockets.push(socket);
      socket.on('data', () => socket.write('HTTP/1.1 204 No Content\r\n\r\n'));
    });
    const url = `https://127.0.0.1:${await listen(server)}/`;
    expect(await post({ url, headers: {}, body: '' })).toMatchObject({ statusCode: 204, error: null });
    sockets[0]?.end(); // with a close_notify that the other end has not read yet
    expect(await post({ url, headers: {}, body: '' })).toMatchObject({ statusCode: 204, error: null });
    expect(sockets).toHaveLength(2);
  });
});
