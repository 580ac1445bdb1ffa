// The browser imports this file too, so it must stay small.

/** The codes of failed attempts. They are stable, because customers match on them. `failure-causes.ts` has the texts of causes. */
export const FAILURES = {
  timeout: 'no complete response within 5 seconds',
  dns_not_found: 'the host name does not exist',
  dns_failed: 'the host name could not be resolved',
  address_not_public: 'the host name resolves to an address that is not public',
  connection_refused: 'the connection was refused',
  connection_reset: 'the connection was closed before the response',
  host_unreachable: 'the host is unreachable',
  connection_failed: 'the connection failed',
  certificate_invalid: 'the TLS certificate is not valid',
  tls_failed: 'the TLS handshake failed',
  response_invalid: 'the response is not valid HTTP/1.1',
  response_too_large: 'the response is larger than 64 KiB, including its headers',
  response_truncated: 'the response ended before it was complete',
  redirect_not_followed: 'the response was a redirect; redirects are not followed',
  status_not_2xx: 'the status code was not 2xx',
} as const;

export type Failure = keyof typeof FAILURES;

const BY_CODE: Record<string, Failure> = {
  ETIMEDOUT: 'timeout',
  ENOTFOUND: 'dns_not_found',
  ADDRESS_NOT_PUBLIC: 'address_not_public',
  ECONNREFUSED: 'connection_refused',
  ECONNRESET: 'connection_reset',
  EPIPE: 'connection_reset',
  EHOSTUNREACH: 'host_unreachable',
  EHOSTDOWN: 'host_unreachable',
  ENETUNREACH: 'host_unreachable',
  EADDRNOTAVAIL: 'host_unreachable',
  EAFNOSUPPORT: 'host_unreachable',
  EPROTO: 'tls_failed',
};
// Node's names of OpenSSL's verification errors (Node.js TLS documentation, "X509 certificate error codes").
const CERTIFICATE =
  /^(CERT_|CRL_|DEPTH_ZERO_|SELF_SIGNED_|UNABLE_TO_|INVALID_CA|INVALID_PURPOSE|HOSTNAME_MISMATCH|PATH_LENGTH_|ERR_TLS_CERT_|ERROR_IN_CERT_)/;
const INTERNAL_FAILURES = new Set([
  'EMFILE',
  'ENFILE',
  'ENOBUFS',
  'ENOMEM',
  'ENETDOWN',
  'EADDRNOTAVAIL',
  'EAFNOSUPPORT',
]);
/** A machine without IPv6 causes these too. Then the endpoint has an address that the service cannot reach. */
const WITHOUT_IPV6 = new Set(['ENETDOWN', 'EADDRNOTAVAIL', 'EAFNOSUPPORT']);

interface SystemError {
  code?: unknown;
  syscall?: string;
  /** The address of a failed connection. */
  address?: string;
  message?: string;
}

/** Whether an error of a connection is an internal failure and not caused by the endpoint. */
export function isInternalFailure(error: unknown): boolean {
  const code = codeOf(error);
  const { syscall, address = '' } = error as SystemError;
  if (WITHOUT_IPV6.has(code) && address.includes(':')) return false;
  // A query uses the name server of the system. c-ares also reports it as refused when no file descriptors are left.
  return INTERNAL_FAILURES.has(code) || (code === 'ECONNREFUSED' && syscall?.startsWith('query') === true);
}

export function failureCode(error: unknown): Failure {
  const code = codeOf(error);
  const { syscall } = error as SystemError;
  // c-ares has codes that sockets have too: a name server, not the endpoint, refused the connection.
  if (syscall?.startsWith('query')) return /^(ENOTFOUND|ENODATA)$/.test(code) ? 'dns_not_found' : 'dns_failed';
  const known = BY_CODE[code];
  if (known) return known;
  if (CERTIFICATE.test(code)) return 'certificate_invalid';
  if (code.startsWith('ERR_SSL_') || code.startsWith('ERR_TLS_')) return 'tls_failed';
  if (code === 'HPE_HEADER_OVERFLOW') return 'response_too_large';
  if (code.startsWith('HPE_')) return 'response_invalid';
  if (code.startsWith('EAI_') || syscall === 'getaddrinfo') return 'dns_failed';
  return 'connection_failed';
}

const OPENSSL_REASON = /:SSL routines:[^:]*:([^:]+):/;

/**
 * The cause as the network library names it. For an alert while the request is written, Node has the code `EPROTO` and names the
 * cause only in the message. The result then has the form of its other codes of OpenSSL.
 */
export function reasonOf(error: unknown): string | null {
  const code = codeOf(error);
  const [, reason] = (code === 'EPROTO' && OPENSSL_REASON.exec(String((error as SystemError).message))) || [];
  if (reason) return `ERR_SSL_${reason.toUpperCase().replaceAll(' ', '_')}`;
  return code === '' || code === 'ADDRESS_NOT_PUBLIC' ? null : code;
}

function codeOf(error: unknown): string {
  const { code } = error as SystemError;
  return typeof code === 'string' ? code : '';
}
