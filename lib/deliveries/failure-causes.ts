// The browser imports this file too, so it must stay small.
import { FAILURES, type Failure } from './failure-codes.ts';

/** A cause of a failure that has its own text. */
export interface Cause {
  error: Failure;
  /** Names of the cause in `error_reason`. */
  reason: RegExp;
  text: string;
  advice: string;
}

const FIREWALL = 'Check that your firewall allows the port from all source addresses.';

/** Every text that names a cause. Servers have several names for some of them, and names change between versions of OpenSSL. */
export const CAUSES: readonly Cause[] = [
  {
    error: 'timeout',
    reason: /^ETIMEDOUT$/,
    text: 'no connection within 5 seconds',
    advice: FIREWALL,
  },
  {
    error: 'timeout',
    reason: /^ERR_TLS_HANDSHAKE_TIMEOUT$/,
    text: 'the TLS handshake did not end within 5 seconds',
    advice: 'Check that the port uses TLS, and that no proxy holds the connection back.',
  },
  {
    error: 'dns_not_found',
    reason: /^ENODATA$/,
    text: 'the host name has no address',
    advice: 'Add an A record for the host name.',
  },
  {
    error: 'dns_failed',
    reason: /^ETIMEOUT$/,
    text: 'the name servers of the host did not respond',
    advice: 'Check that all name servers of your domain respond.',
  },
  {
    error: 'dns_failed',
    reason: /^ESERVFAIL$/,
    text: 'the name servers of the host reported a failure',
    advice: 'Check the name servers and the DNSSEC signatures of your domain.',
  },
  {
    error: 'host_unreachable',
    reason: /^(EADDRNOTAVAIL|EAFNOSUPPORT|ENETDOWN)$/,
    text: 'the host has only IPv6 addresses, and the service has no IPv6',
    advice: 'Add an A record with an IPv4 address.',
  },
  {
    error: 'certificate_invalid',
    reason: /^CERT_HAS_EXPIRED$/,
    text: 'the TLS certificate has expired',
    advice: 'Renew the certificate, and reload the server.',
  },
  {
    error: 'certificate_invalid',
    reason: /^CERT_NOT_YET_VALID$/,
    text: 'the TLS certificate is not valid yet',
    advice: 'Use a certificate that is valid now.',
  },
  {
    error: 'certificate_invalid',
    reason: /^(ERR_TLS_CERT_ALTNAME_INVALID|HOSTNAME_MISMATCH)$/,
    text: 'the TLS certificate does not contain the host name',
    advice:
      'Use a certificate that contains the host name of the URL. A server with several sites may send another one.',
  },
  {
    error: 'certificate_invalid',
    reason: /^(UNABLE_TO_VERIFY_LEAF_SIGNATURE|UNABLE_TO_GET_ISSUER_CERT.*)$/,
    text: 'the TLS certificate does not lead to a public authority, so an intermediate certificate is probably missing',
    advice: 'Configure the full chain: the certificate of the server, followed by the intermediate certificates.',
  },
  {
    error: 'certificate_invalid',
    reason: /^(DEPTH_ZERO_SELF_SIGNED_CERT|SELF_SIGNED_CERT_IN_CHAIN)$/,
    text: 'the TLS certificate is self-signed or from a private authority',
    advice: 'Use a certificate from a public authority.',
  },
  {
    error: 'tls_failed',
    reason: /WRONG_VERSION_NUMBER|PACKET_LENGTH_TOO_LONG|RECORD_TOO_LONG/,
    text: 'the port does not use TLS; it may use plain HTTP',
    advice: 'Set a port with TLS in the endpoint URL, or enable TLS on this port.',
  },
  {
    error: 'tls_failed',
    reason: /CERTIFICATE_REQUIRED|BAD_CERTIFICATE|UNSUPPORTED_CERTIFICATE|CERTIFICATE_UNKNOWN|UNKNOWN_CA|ACCESS_DENIED/,
    text: 'the endpoint requires a client certificate',
    advice: 'Exclude the path or the host from client authentication (mTLS). Verify the signature instead.',
  },
  {
    error: 'tls_failed',
    reason: /PROTOCOL_VERSION|UNSUPPORTED_PROTOCOL|INAPPROPRIATE_FALLBACK/,
    text: 'the endpoint does not support TLS 1.3',
    advice: 'Enable TLS 1.3 on your server.',
  },
  {
    error: 'tls_failed',
    reason: /UNRECOGNIZED_NAME/,
    text: 'the endpoint does not accept the host name of the URL (SNI)',
    advice: 'Configure the host name of the URL on your server or proxy.',
  },
  {
    error: 'tls_failed',
    reason: /NO_APPLICATION_PROTOCOL/,
    text: 'the endpoint does not support HTTP/1.1',
    advice: 'Enable HTTP/1.1 in addition to HTTP/2 (ALPN http/1.1).',
  },
  {
    error: 'tls_failed',
    reason: /HANDSHAKE_FAILURE|INSUFFICIENT_SECURITY|NO_SHARED_CIPHER|MISSING_EXTENSION/,
    text: 'the endpoint accepts no version, cipher or key exchange of TLS 1.3 that the service offers, or has no certificate for the host',
    advice:
      'Enable TLS 1.3 with a standard cipher on your server, and a certificate for the host name. Some servers also report a missing client certificate in this way.',
  },
  {
    error: 'response_invalid',
    reason: /^HPE_(INVALID_CONSTANT|INVALID_VERSION)$/,
    text: 'the response does not begin as HTTP/1.1',
    advice: 'Check that the port serves HTTP/1.1.',
  },
];

export const causeOf = (error: string | null, reason: string | null | undefined): Cause | undefined =>
  CAUSES.find((cause) => cause.error === error && reason && cause.reason.test(reason));

/** What a customer reads about a failure. A code that this version does not know is its own text. */
export const failureText = (error: string, reason: string | null | undefined): string =>
  causeOf(error, reason)?.text ?? FAILURES[error as Failure] ?? error;
