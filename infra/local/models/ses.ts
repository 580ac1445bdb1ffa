import { InvalidRequest } from './invalid-request.ts';

export interface EmailRequest {
  source: string;
  recipient: string;
  subject: string;
  /** The size of the request, which is larger than the message. */
  bytes: number;
}

/** SES Developer Guide, "Service quotas in Amazon SES". */
const MAX_BYTES = 10 * 1024 * 1024;
/** RFC 5321 §4.5.3.1, which SES references for addresses (API Reference, "SendEmail"). */
const MAX_LOCAL_PART = 64;
const MAX_ADDRESS = 254;
const ATOM = "[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]+";
const LABEL = '[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?';
const LOCAL_PART = new RegExp(`^${ATOM}(?:\\.${ATOM})*$`);
const DOMAIN = new RegExp(`^${LABEL}(?:\\.${LABEL})+$`);

/** Throws if SES rejects an email that matches the service model, by the strictest reading of its documentation. */
export function requireEmail({ source, recipient, subject, bytes }: EmailRequest): void {
  if (bytes > MAX_BYTES) throw invalid(`Message length is more than ${MAX_BYTES} bytes long: '${bytes}'.`);
  for (const address of [addressIn(source), recipient]) requireAddress(address);
  // A header is one line, and an encoded word contains no control characters (RFC 2047 §2).
  if (/\p{Cc}/u.test(subject) || !subject.isWellFormed()) throw invalid('The subject contains control characters.');
}

/** Accepts `Name <address>` or only an address. */
const addressIn = (source: string): string => /<([^<>]*)>$/.exec(source)?.[1] ?? source;

function requireAddress(address: string): void {
  const at = address.lastIndexOf('@');
  const [local, domain] = [address.slice(0, at), address.slice(at + 1)];
  if (at < 0) throw invalid("Missing final '@domain'");
  if (/[\p{Cc}\s]/u.test(local)) throw invalid('Local address contains control or whitespace');
  if (/[\p{Cc}\s]/u.test(domain)) throw invalid('Domain contains control or whitespace');
  if (!LOCAL_PART.test(local) || local.length > MAX_LOCAL_PART)
    throw invalid('Local address contains illegal character');
  if (!DOMAIN.test(domain) || address.length > MAX_ADDRESS) throw invalid('Domain contains illegal character');
}

const invalid = (message: string): InvalidRequest => new InvalidRequest(message, 'InvalidParameterValue');
