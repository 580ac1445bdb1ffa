import { expect, it } from 'vitest';
import { EXCERPT_BYTES, excerptOf } from '../../../lib/deliveries/excerpt.ts';
import { CAUSES, causeOf, failureText } from '../../../lib/deliveries/failure-causes.ts';
import {
  FAILURES,
  type Failure,
  failureCode,
  isInternalFailure,
  reasonOf,
} from '../../../lib/deliveries/failure-codes.ts';

/** An error in the format of Node. */
const error = (code?: string, members: object = {}) => Object.assign(new Error('failed'), code && { code }, members);
const query = { syscall: 'queryA' };
const IPV6 = { syscall: 'connect', address: '2001:db8::1' };
const IPV4 = { syscall: 'connect', address: '192.0.2.1' };

// `test/stack/hostile` proves the codes of errors that a socket or a name server of a test can cause.
it.each<[string, unknown, Failure]>([
  // Timeouts.
  ['a connection timeout', error('ETIMEDOUT', { syscall: 'connect' }), 'timeout'],
  // Host names.
  ['a name server that refused the connection', error('ECONNREFUSED', query), 'dns_failed'],
  ['a name server that closed the connection', error('ECONNRESET', { syscall: 'queryAaaa' }), 'dns_failed'],
  ['a temporary resolver failure', error('EAI_AGAIN', { syscall: 'getaddrinfo' }), 'dns_failed'],
  ['a resolver failure without a system call', error('EAI_FAIL'), 'dns_failed'],
  ['another resolver failure', error('EPERM', { syscall: 'getaddrinfo' }), 'dns_failed'],
  // Connections.
  ['a refused connection', error('ECONNREFUSED', { syscall: 'connect' }), 'connection_refused'],
  ['a broken pipe', error('EPIPE', { syscall: 'write' }), 'connection_reset'],
  ['an unreachable host', error('EHOSTUNREACH', { syscall: 'connect' }), 'host_unreachable'],
  ['a host that is down', error('EHOSTDOWN', { syscall: 'connect' }), 'host_unreachable'],
  ['IPv6 without an address of the machine', error('EADDRNOTAVAIL', IPV6), 'host_unreachable'],
  ['IPv6 that the machine does not know', error('EAFNOSUPPORT', IPV6), 'host_unreachable'],
  ['IPv6 without a route', error('ENETUNREACH', IPV6), 'host_unreachable'],
  ['an unreachable network', error('ENETUNREACH', { syscall: 'connect' }), 'host_unreachable'],
  ['a name that does not exist', error('ENOTFOUND', query), 'dns_not_found'],
  ['a name without addresses', error('ENODATA', query), 'dns_not_found'],
  ['a lookup that takes too long', error('ETIMEOUT', query), 'dns_failed'],
  // TLS.
  ['a self-signed root', error('SELF_SIGNED_CERT_IN_CHAIN'), 'certificate_invalid'],
  ['an unknown issuer', error('UNABLE_TO_VERIFY_LEAF_SIGNATURE'), 'certificate_invalid'],
  ['an invalid issuer', error('INVALID_CA'), 'certificate_invalid'],
  ['a certificate for another purpose', error('INVALID_PURPOSE'), 'certificate_invalid'],
  ['a certificate for another host', error('HOSTNAME_MISMATCH'), 'certificate_invalid'],
  ['a chain that is too long', error('PATH_LENGTH_EXCEEDED'), 'certificate_invalid'],
  ['a revocation list that has expired', error('CRL_HAS_EXPIRED'), 'certificate_invalid'],
  ['a certificate with an invalid time', error('ERROR_IN_CERT_NOT_AFTER_FIELD'), 'certificate_invalid'],
  ['no common version', error('ERR_SSL_TLSV1_ALERT_PROTOCOL_VERSION'), 'tls_failed'],
  ['a failed handshake', error('ERR_TLS_HANDSHAKE_TIMEOUT'), 'tls_failed'],
  ['too many headers', error('HPE_HEADER_OVERFLOW'), 'response_too_large'],
  ['a response that is not HTTP', error('HPE_INVALID_CONSTANT'), 'response_invalid'],
  // Other errors.
  ['an unknown code', error('ESOMETHING'), 'connection_failed'],
  ['a code that is not a text', error(undefined, { code: 42 }), 'connection_failed'],
  ['no code', error(), 'connection_failed'],
])('a failed attempt is recorded with a stable code: %s', (_, thrown, failure) => {
  expect(failureCode(thrown)).toBe(failure);
  expect(isInternalFailure(thrown)).toBe(
    failure === 'dns_failed' && (thrown as { code?: string }).code === 'ECONNREFUSED',
  );
});

it.each<[string, unknown]>([
  ['file descriptors', error('EMFILE')],
  ['file descriptors in the system', error('ENFILE')],
  ['buffers', error('ENOBUFS')],
  ['memory', error('ENOMEM')],
  ['ports', error('EADDRNOTAVAIL', IPV4)],
  ['IPv4', error('EAFNOSUPPORT', IPV4)],
  ['a network', error('ENETDOWN', IPV4)],
  ['buffers, also for IPv6', error('ENOBUFS', IPV6)],
  ['file descriptors, also for IPv6', error('EMFILE', IPV6)],
])('treats a lack of %s as an internal failure', (_, thrown) => {
  expect(isInternalFailure(thrown)).toBe(true);
});

const openssl = (text: string) =>
  Object.assign(new Error(`write EPROTO 40ED:error:0A00:SSL routines:read_bytes:${text}:../a.c:9:`), {
    code: 'EPROTO',
  });

it.each<[string, unknown, string | null]>([
  ['a system error', error('ECONNREFUSED'), 'ECONNREFUSED'],
  ['an alert while the request is written', openssl('tlsv1 unrecognized name'), 'ERR_SSL_TLSV1_UNRECOGNIZED_NAME'],
  ['another protocol error', error('EPROTO'), 'EPROTO'],
  ['an address that is not public', error('ADDRESS_NOT_PUBLIC'), null],
  ['an error without a code', error(), null],
])('names the cause of %s as the library does', (_, thrown, reason) => {
  expect(reasonOf(thrown)).toBe(reason);
});

// The names of Node.js 20 to 24, which have different versions of OpenSSL. `test/stack/ordinary` has the servers.
it.each<[Failure, string, string]>([
  ['tls_failed', 'ERR_SSL_SSLV3_ALERT_HANDSHAKE_FAILURE', 'accepts no version'],
  ['tls_failed', 'ERR_SSL_SSL/TLS_ALERT_HANDSHAKE_FAILURE', 'accepts no version'],
  ['tls_failed', 'ERR_SSL_SSLV3_ALERT_BAD_CERTIFICATE', 'client certificate'],
  ['tls_failed', 'ERR_SSL_UNSUPPORTED_PROTOCOL', 'TLS 1.3'],
  ['tls_failed', 'ERR_SSL_SOMETHING', FAILURES.tls_failed],
  ['certificate_invalid', 'UNABLE_TO_GET_ISSUER_CERT_LOCALLY', 'intermediate'],
  ['certificate_invalid', 'CERT_REVOKED', FAILURES.certificate_invalid],
  ['connection_refused', 'ECONNREFUSED', FAILURES.connection_refused],
  ['connection_reset', 'ETIMEDOUT', FAILURES.connection_reset],
])('explains %s with %s', (code, reason, text) => {
  expect(failureText(code, reason)).toContain(text);
});

it('explains an attempt of an earlier release, and a code of a later one', () => {
  expect(failureText('timeout', null)).toBe(FAILURES.timeout);
  expect(failureText('timeout', undefined)).toBe(FAILURES.timeout);
  expect(failureText('brand_new', 'X')).toBe('brand_new');
  expect(causeOf(null, null)).toBeUndefined();
});

it('has a different text for each cause', () => {
  const texts = [...CAUSES.map(({ text }) => text), ...Object.values(FAILURES)];
  expect(new Set(texts).size).toBe(texts.length);
});

const full = 'a'.repeat(EXCERPT_BYTES);
const allButOne = 'a'.repeat(EXCERPT_BYTES - 1);

it.each<[string, string | number[], string | null]>([
  ['is null for an empty one', '', null],
  ['keeps lines, tabs, other scripts and symbols', 'a\n\tnäin ei käy 😀', 'a\n\tnäin ei käy 😀'],
  ['has no control characters', 'a\u0000\u0007\u0008\u000b\u000c\r\u001bb\u007f\u0080\u009fc', 'abc'],
  ['has no characters that turn the direction of text', 'a\u061c\u200e\u200f\u202a\u202e\u2066\u2069b', 'ab'],
  ['keeps what is next to the removed ranges', '\u0020\u007e\u00a0\u2010\u202f', '\u0020\u007e\u00a0\u2010\u202f'],
  ['has 1 KiB of more', `${full}b`, full],
  ['leaves out a character of two bytes that the cut goes through', `${allButOne}ä`, allButOne],
  ['replaces bytes that are not UTF-8', [0x61, 0xff, 0x62], 'a\ufffdb'],
  ['shows that a short response ended in the middle of a character', [0x61, 0xc3], 'a\ufffd'],
  ['shows that of exactly 1 KiB, too', [...Buffer.from(allButOne), 0xc3], `${allButOne}\ufffd`],
])('the excerpt of a response %s', (_, content, expected) => {
  expect(excerptOf(Buffer.from(content as string))).toBe(expected);
});
