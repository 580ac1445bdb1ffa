// The browser imports this file too, so it must stay small.

/** The codes of failed attempts. They are stable, because customers match on them. */
export const FAILURES = {
  timeout: 'no complete response within 5 seconds',
  dns_not_found: 'the host name does not exist',
  dns_failed: 'the host name could not be resolved',
  address_not_public: 'the host name resolves to an address that is not public',
  connection_refused: 'the connection was refused',
  connection_reset: 'the connection was closed before the response',
  host_unreachable: 'the host is unreachable',
  connection_failed: 'the connection failed',
  certificate_invalid: 'the TLS certificate is not valid for this host',
  tls_failed: 'TLS 1.3 could not be negotiated',
  response_invalid: 'the response is not HTTP',
  response_too_large: 'the response is larger than 64 KiB',
  response_truncated: 'the response ended before it was complete',
  redirect_not_followed: 'the response was a redirect; redirects are not followed',
  status_not_2xx: 'the status code was not 2xx',
} as const;

export type Failure = keyof typeof FAILURES;

const BY_CODE: Record<string, Failure> = {
  ETIMEDOUT: 'timeout',
  ERR_SOCKET_CONNECTION_TIMEOUT: 'timeout',
  ENOTFOUND: 'dns_not_found',
  ETIMEOUT: 'dns_failed',
  ADDRESS_NOT_PUBLIC: 'address_not_public',
  ECONNREFUSED: 'connection_refused',
  ECONNRESET: 'connection_reset',
  EPIPE: 'connection_reset',
  EHOSTUNREACH: 'host_unreachable',
  ENETUNREACH: 'host_unreachable',
  EPROTO: 'tls_failed',
};
// Node's names of OpenSSL's verification errors (Node.js TLS documentation, "X509 certificate error codes").
const CERTIFICATE =
  /^(CERT_|CRL_|DEPTH_ZERO_|SELF_SIGNED_|UNABLE_TO_|INVALID_CA|INVALID_PURPOSE|HOSTNAME_MISMATCH|PATH_LENGTH_|ERR_TLS_CERT_|ERROR_IN_CERT_)/;
const INTERNAL_FAILURES = new Set(['EMFILE', 'ENFILE', 'ENOBUFS', 'ENOMEM', 'EADDRNOTAVAIL']);

/** Whether an error of a connection is an internal failure and not caused by the endpoint. */
export function isInternalFailure(error: unknown): boolean {
  const code = codeOf(error);
  const { syscall } = error as { syscall?: string };
  // A query uses the name server of the system. c-ares also reports it as refused when no file descriptors are left.
  return INTERNAL_FAILURES.has(code) || (code === 'ECONNREFUSED' && syscall?.startsWith('query') === true);
}

export function failureCode(error: unknown): Failure {
  const code = codeOf(error);
  const { syscall } = error as { syscall?: string };
  // c-ares has codes that sockets have too: a name server, not the endpoint, refused the connection.
  if (syscall?.startsWith('query')) return 'dns_failed';
  const known = BY_CODE[code];
  if (known) return known;
  if (CERTIFICATE.test(code)) return 'certificate_invalid';
  if (code.startsWith('ERR_SSL_') || code.startsWith('ERR_TLS_')) return 'tls_failed';
  if (code === 'HPE_HEADER_OVERFLOW') return 'response_too_large';
  if (code.startsWith('HPE_')) return 'response_invalid';
  if (code.startsWith('EAI_') || syscall === 'getaddrinfo') return 'dns_failed';
  return 'connection_failed';
}

// After several addresses, Node reports the code of the first error.
function codeOf(error: unknown): string {
  const { code } = error as { code?: unknown };
  return typeof code === 'string' ? code : '';
}
