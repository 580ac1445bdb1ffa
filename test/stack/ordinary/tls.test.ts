import http from 'node:http';
import http2 from 'node:http2';
import https from 'node:https';
import net from 'node:net';
import tls from 'node:tls';
import { describe, expect, it } from 'vitest';
import { causeOf, failureText } from '../../../lib/deliveries/failure-causes.ts';
import { httpPost } from '../../../lib/deliveries/http-post.ts';
import { certificate, pem } from '../../support/certificates/read.ts';
import { listen, stopTime } from '../../support/endpoints.ts';

tls.setDefaultCACertificates([pem('authority')]);
stopTime();
const post = httpPost('any');

/** An endpoint, and the number of POSTs that its code received. */
interface Started {
  server: net.Server;
  posts: () => number;
}
type Start = () => Started;

const counted = (server: net.Server): Started => {
  let posts = 0;
  server.on('request', () => posts++);
  return { server, posts: () => posts };
};
const respond = (request: http.IncomingMessage, response: http.ServerResponse) =>
  void request.resume().on('end', () => response.end('ok'));
const secure =
  (options: tls.TlsOptions): Start =>
  () =>
    counted(https.createServer(options, respond));
const valid = certificate('valid');
/** Reads the first message of the handshake, and sends a fatal alert (RFC 8446 §6). */
const alert =
  (description: number): Start =>
  () =>
    counted(
      net.createServer(
        (socket) => void socket.once('data', () => socket.end(Buffer.from([21, 3, 3, 0, 2, 2, description]))),
      ),
    );
const banner =
  (text: string): Start =>
  () =>
    counted(net.createServer((socket) => void socket.write(text)));
const leaf = certificate('chain').cert.replace(/(?<=-----END CERTIFICATE-----\n)[\s\S]*/, '');

type Row = [name: string, start: Start, error: string | null, reason: string | RegExp | null, text: string | null];

const CLIENT_CERTIFICATE = 'the endpoint requires a client certificate';
const NO_TLS = 'the port does not use TLS; it may use plain HTTP';
const NO_HTTP_1 = 'the endpoint does not support HTTP/1.1';
const NOTHING_IN_COMMON =
  'the endpoint accepts no version, cipher or key exchange of TLS 1.3 that the service offers, or has no certificate for the host';
const INCOMPLETE =
  'the TLS certificate does not lead to a public authority, so an intermediate certificate is probably missing';
const SELF_SIGNED = 'the TLS certificate is self-signed or from a private authority';

const accepted: Row[] = [
  ['has the full chain', secure(certificate('chain')), null, null, null],
  ['also supports TLS 1.2', secure({ ...valid, minVersion: 'TLSv1.2' }), null, null, null],
  [
    'prefers HTTP/2, and supports HTTP/1.1',
    () => counted(http2.createSecureServer({ ...valid, allowHTTP1: true }, respond as never)),
    null,
    null,
    null,
  ],
  [
    'requests a client certificate and does not require it',
    secure({ ...valid, requestCert: true, rejectUnauthorized: false }),
    null,
    null,
    null,
  ],
  ['has the key exchange P-256 only', secure({ ...valid, ecdhCurve: 'prime256v1' }), null, null, null],
  ['sends no session tickets', secure({ ...valid, sessionTimeout: 1 }), null, null, null],
];

const certificates: Row[] = [
  [
    'sends no intermediate certificate',
    secure({ key: pem('key'), cert: leaf }),
    'certificate_invalid',
    'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
    INCOMPLETE,
  ],
  [
    'has an expired certificate',
    secure(certificate('expired')),
    'certificate_invalid',
    'CERT_HAS_EXPIRED',
    'the TLS certificate has expired',
  ],
  [
    'has a certificate of the future',
    secure(certificate('not-yet-valid')),
    'certificate_invalid',
    'CERT_NOT_YET_VALID',
    'the TLS certificate is not valid yet',
  ],
  [
    'sends the certificate of another site',
    secure(certificate('other-host')),
    'certificate_invalid',
    'ERR_TLS_CERT_ALTNAME_INVALID',
    'the TLS certificate does not contain the host name',
  ],
  [
    'has a self-signed certificate',
    secure(certificate('self-signed')),
    'certificate_invalid',
    'DEPTH_ZERO_SELF_SIGNED_CERT',
    SELF_SIGNED,
  ],
];

const handshakes: Row[] = [
  [
    'supports TLS 1.2 only',
    secure({ ...valid, maxVersion: 'TLSv1.2' }),
    'tls_failed',
    'ERR_SSL_TLSV1_ALERT_PROTOCOL_VERSION',
    'the endpoint does not support TLS 1.3',
  ],
  [
    'requires a client certificate',
    secure({ ...valid, requestCert: true, rejectUnauthorized: true }),
    'tls_failed',
    'ERR_SSL_TLSV13_ALERT_CERTIFICATE_REQUIRED',
    CLIENT_CERTIFICATE,
  ],
  ['requires a client certificate, as Java says it', alert(42), 'tls_failed', /BAD_CERTIFICATE$/, CLIENT_CERTIFICATE],
  ['requires a client certificate of its authority', alert(48), 'tls_failed', /UNKNOWN_CA$/, CLIENT_CERTIFICATE],
  [
    'has plain HTTP on the port',
    () => counted(http.createServer(respond)),
    'tls_failed',
    'ERR_SSL_WRONG_VERSION_NUMBER',
    NO_TLS,
  ],
  ['is an SSH server', banner('SSH-2.0-OpenSSH_9.6\r\n'), 'tls_failed', 'ERR_SSL_WRONG_VERSION_NUMBER', NO_TLS],
  ['is a mail server', banner('220 mail.example.com ESMTP\r\n'), 'tls_failed', 'ERR_SSL_WRONG_VERSION_NUMBER', NO_TLS],
  [
    'supports HTTP/2 only',
    () => counted(http2.createSecureServer(valid)),
    'tls_failed',
    'ERR_SSL_TLSV1_ALERT_NO_APPLICATION_PROTOCOL',
    NO_HTTP_1,
  ],
  [
    'does not know the name',
    alert(112),
    'tls_failed',
    'ERR_SSL_TLSV1_UNRECOGNIZED_NAME',
    'the endpoint does not accept the host name of the URL (SNI)',
  ],
  [
    'has another cipher only',
    secure({ ...valid, ciphers: 'TLS_AES_128_CCM_SHA256' }),
    'tls_failed',
    /HANDSHAKE_FAILURE$/,
    NOTHING_IN_COMMON,
  ],
  ['has no certificate for the name', secure({}), 'tls_failed', /HANDSHAKE_FAILURE$/, NOTHING_IN_COMMON],
  ['has an old TLS that reports a failed handshake', alert(40), 'tls_failed', /HANDSHAKE_FAILURE$/, NOTHING_IN_COMMON],
  ['has an internal error', alert(80), 'tls_failed', /INTERNAL_ERROR$/, 'the TLS handshake failed'],
];

describe('an endpoint', () => {
  it.each([...accepted, ...certificates, ...handshakes])('that %s', async (_, start, error, reason, text) => {
    const { server, posts } = start();
    const outcome = await post({ url: `https://127.0.0.1:${await listen(server)}/`, headers: {}, body: '{}' });
    expect(outcome).toMatchObject({ statusCode: error === null ? 200 : null, error });
    if (reason instanceof RegExp) expect(outcome.reason).toMatch(reason);
    else expect(outcome.reason).toBe(reason);
    expect(error && failureText(error, outcome.reason)).toBe(text);
    expect(posts()).toBe(error === null ? 1 : 0);
  });

  it('that speaks HTTP/2 without ALPN has a response that is not HTTP/1.1', async () => {
    const server = tls.createServer(valid, (socket) => void socket.write(Buffer.from([0, 0, 0, 4, 0, 0, 0, 0, 0])));
    const outcome = await post({ url: `https://127.0.0.1:${await listen(server)}/`, headers: {}, body: '{}' });
    expect(outcome).toMatchObject({ error: 'response_invalid', reason: 'HPE_INVALID_CONSTANT' });
    expect(causeOf('response_invalid', outcome.reason)?.text).toBe('the response does not begin as HTTP/1.1');
  });
});
