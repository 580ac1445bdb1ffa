import { describe, expect, it } from 'vitest';
import { EXCERPT_BYTES, excerptOf } from '../../../lib/deliveries/attempt.ts';
import { FAILURES, type Failure, failureCode, isInternalFailure } from '../../../lib/deliveries/failure-codes.ts';

/** An error in the format of Node. */
const error = (code?: string, members: object = {}) => Object.assign(new Error('failed'), code && { code }, members);
const query = { syscall: 'queryA' };
const timeout = () => Object.assign(new Error('aborted'), { name: 'TimeoutError' });

describe('a failed attempt', () => {
  it.each<[string, unknown, Failure]>([
    // Timeouts.
    ['an aborted request', error('ABORT_ERR'), 'timeout'],
    ['a connection timeout', error('ETIMEDOUT', { syscall: 'connect' }), 'timeout'],
    ['a timeout of all addresses', error('ERR_SOCKET_CONNECTION_TIMEOUT'), 'timeout'],
    ['AbortSignal.timeout', timeout(), 'timeout'],
    ['a request aborted by AbortSignal.timeout', error('ABORT_ERR', { cause: timeout() }), 'timeout'],
    ['an error caused by a timeout', error('ECONNRESET', { cause: timeout() }), 'timeout'],
    // Host names.
    ['an unknown host', error('ENOTFOUND', { syscall: 'getaddrinfo' }), 'dns_not_found'],
    ['an unknown host in a query', error('ENOTFOUND', query), 'dns_not_found'],
    ['a host without an address', error('ENODATA', query), 'dns_not_found'],
    ['a name server timeout', error('ETIMEOUT', query), 'dns_failed'],
    ['a failed name server', error('ESERVFAIL', query), 'dns_failed'],
    ['a name server that refused the connection', error('ECONNREFUSED', query), 'dns_failed'],
    ['a name server that closed the connection', error('ECONNRESET', { syscall: 'queryAaaa' }), 'dns_failed'],
    ['a temporary resolver failure', error('EAI_AGAIN', { syscall: 'getaddrinfo' }), 'dns_failed'],
    ['a resolver failure without a system call', error('EAI_FAIL'), 'dns_failed'],
    ['another resolver failure', error('EPERM', { syscall: 'getaddrinfo' }), 'dns_failed'],
    ['a host with a private address', error('ADDRESS_NOT_PUBLIC'), 'address_not_public'],
    // Connections.
    ['a refused connection', error('ECONNREFUSED', { syscall: 'connect' }), 'connection_refused'],
    ['a refused connection with only a code', error('ECONNREFUSED'), 'connection_refused'],
    ['a reset connection', error('ECONNRESET', { syscall: 'read' }), 'connection_reset'],
    ['a broken pipe', error('EPIPE', { syscall: 'write' }), 'connection_reset'],
    ['an unreachable host', error('EHOSTUNREACH', { syscall: 'connect' }), 'host_unreachable'],
    ['an unreachable network', error('ENETUNREACH', { syscall: 'connect' }), 'host_unreachable'],
    // TLS.
    ['an expired certificate', error('CERT_HAS_EXPIRED'), 'certificate_invalid'],
    ['a certificate of another host', error('ERR_TLS_CERT_ALTNAME_INVALID'), 'certificate_invalid'],
    ['a self-signed certificate', error('DEPTH_ZERO_SELF_SIGNED_CERT'), 'certificate_invalid'],
    ['a self-signed root', error('SELF_SIGNED_CERT_IN_CHAIN'), 'certificate_invalid'],
    ['an unknown issuer', error('UNABLE_TO_VERIFY_LEAF_SIGNATURE'), 'certificate_invalid'],
    ['an invalid issuer', error('INVALID_CA'), 'certificate_invalid'],
    ['no common protocol', error('EPROTO', { syscall: 'write' }), 'tls_failed'],
    ['no common version', error('ERR_SSL_TLSV1_ALERT_PROTOCOL_VERSION'), 'tls_failed'],
    ['a failed handshake', error('ERR_TLS_HANDSHAKE_TIMEOUT'), 'tls_failed'],
    // Responses.
    ['too many headers', error('HPE_HEADER_OVERFLOW'), 'response_too_large'],
    ['a response that is not HTTP', error('HPE_INVALID_CONSTANT'), 'response_invalid'],
    // Several addresses, and other errors.
    ['several addresses with the same code', Object.assign(new AggregateError([]), { code: 'ETIMEDOUT' }), 'timeout'],
    [
      'several addresses, by the first code',
      new AggregateError([error('ECONNREFUSED'), error('EPIPE')]),
      'connection_refused',
    ],
    ['an unknown code', error('ESOMETHING'), 'connection_failed'],
    ['a code that is not a text', error(undefined, { code: 42 }), 'connection_failed'],
    ['no code', error(), 'connection_failed'],
  ])('is recorded with a stable code: %s', (_, thrown, failure) => {
    expect(failureCode(thrown)).toBe(failure);
    expect(Object.keys(FAILURES)).toContain(failure);
  });
});

describe('an internal failure', () => {
  it.each<[string, unknown, boolean]>([
    ['is a lack of file descriptors', error('EMFILE'), true],
    ['is a lack of file descriptors in the system', error('ENFILE'), true],
    ['is a lack of buffers', error('ENOBUFS'), true],
    ['is a lack of memory', error('ENOMEM'), true],
    ['is a lack of ports', error('EADDRNOTAVAIL', { syscall: 'connect' }), true],
    ['is a name server that refuses us', error('ECONNREFUSED', query), true],
    ['is the first error of several addresses', new AggregateError([error('EMFILE'), error('ECONNREFUSED')]), true],
    ['is not an endpoint that refuses us', error('ECONNREFUSED', { syscall: 'connect' }), false],
    ['is not a refusal that says no more', error('ECONNREFUSED'), false],
    ['is not a name that does not exist', error('ENOTFOUND', query), false],
    ['is not a name server that is slow', error('ETIMEOUT', query), false],
    ['is not an endpoint that is slow', timeout(), false],
    ['is not an endpoint that hangs up', error('ECONNRESET'), false],
    ['is not a bad certificate', error('CERT_HAS_EXPIRED'), false],
    ['is not an error without a code', error(), false],
  ])('%s', (_, thrown, expected) => {
    expect(isInternalFailure(thrown)).toBe(expected);
  });
});

describe('the excerpt of a response', () => {
  const excerpt = (text: string) => excerptOf(Buffer.from(text));
  const full = 'a'.repeat(EXCERPT_BYTES);
  const allButOne = 'a'.repeat(EXCERPT_BYTES - 1);

  it.each<[string, string, string | null]>([
    ['is null for an empty one', '', null],
    ['is its text', 'not today', 'not today'],
    ['keeps other scripts and symbols', 'näin ei käy 😀', 'näin ei käy 😀'],
    ['keeps lines and tabs', 'a\n\tb', 'a\n\tb'],
    ['has no control characters', 'a\u0000\u0007\u0008\u000b\u000c\r\u001bb\u007f\u0080\u009fc', 'abc'],
    ['has no escape sequence that a terminal obeys', '\u001b[31mred', '[31mred'],
    ['has no characters that turn the direction of text', 'a\u061c\u200e\u200f\u202a\u202e\u2066\u2069b', 'ab'],
    ['keeps what is next to the removed ranges', '\u0020\u007e\u00a0\u2010\u202f', '\u0020\u007e\u00a0\u2010\u202f'],
    ['has 1 KiB of exactly 1 KiB', full, full],
    ['has 1 KiB of more', `${full}b`, full],
    ['leaves out a character of two bytes that the cut goes through', `${allButOne}ä`, allButOne],
    [
      'leaves out a character of four bytes that the cut goes through',
      `${'a'.repeat(EXCERPT_BYTES - 3)}😀`,
      'a'.repeat(EXCERPT_BYTES - 3),
    ],
    [
      'keeps a character that ends at the cut',
      `${'a'.repeat(EXCERPT_BYTES - 2)}äb`,
      `${'a'.repeat(EXCERPT_BYTES - 2)}ä`,
    ],
  ])('%s', (_, text, expected) => {
    expect(excerpt(text)).toBe(expected);
  });

  it.each<[string, number[], string]>([
    ['replaces bytes that are not UTF-8', [0x61, 0xff, 0x62], 'a\ufffdb'],
    ['shows that a short response ended in the middle of a character', [0x61, 0xc3], 'a\ufffd'],
    ['shows that of exactly 1 KiB, too', [...Buffer.from(allButOne), 0xc3], `${allButOne}\ufffd`],
  ])('%s', (_, bytes, expected) => {
    expect(excerptOf(Buffer.from(bytes))).toBe(expected);
  });
});
