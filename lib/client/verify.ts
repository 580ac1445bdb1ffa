import { isObject, isText, requireArgument } from './arguments.ts';
import { type DeliveryHeaders, headerReader } from './delivery-headers.ts';

/** A delivery that must not be trusted, or an argument that `verify` cannot use. */
export class VerificationError extends Error {}

export interface ReceivedDelivery {
  /** The raw body, before it is parsed. Bytes are exact. A string hides bytes that its decoder replaced. */
  body: string | ArrayBuffer | ArrayBufferView;
  headers: DeliveryHeaders;
  /** The secret of the webhook, or several, for example during a rotation. */
  secret: string | readonly string[];
  /** How many seconds the delivery can be old, and how far clocks can differ. The default is 300. */
  toleranceSeconds?: number;
}

/**
 * Verifies the signature and the age of a delivery (Standard Webhooks), and returns its event. Runs wherever Web Crypto does: Node.js,
 * browsers, Deno, Bun and edge runtimes. Throws `VerificationError`, also if an argument is wrong.
 */
export async function verify<Event>(delivery: ReceivedDelivery): Promise<Event> {
  required(isObject(delivery), 'an object with body, headers and secret', delivery);
  const { body, headers, secret, toleranceSeconds = 300 } = delivery;
  const secrets: unknown[] = [secret].flat();
  required(secrets.length > 0, 'secret as the secret of the webhook', secret);
  const keys = secrets.map(keyOf);
  const bytes = bytesOf(body);
  const headerOf = headerReader(headers);
  required(headerOf !== null, 'headers as the headers of the request, such as request.headers', headers);
  const isTolerance = typeof toleranceSeconds === 'number' && toleranceSeconds >= 0;
  required(isTolerance, 'toleranceSeconds as a number from 0', toleranceSeconds);
  const [id, timestamp, signatures] = ['webhook-id', 'webhook-timestamp', 'webhook-signature'].map((name) => {
    const value = headerOf(name);
    if (value === undefined) throw new VerificationError(`The header ${name} is missing`);
    return value;
  }) as [string, string, string];
  const seconds = /^\d{1,12}$/.test(timestamp) ? Number(timestamp) : Number.NaN;
  if (!(Math.abs(Date.now() / 1000 - seconds) <= toleranceSeconds))
    throw new VerificationError(`The delivery is older than ${toleranceSeconds} s, or the clocks differ`);
  const prefix = new TextEncoder().encode(`${id}.${timestamp}.`);
  const signed = new Uint8Array(prefix.length + bytes.length);
  signed.set(prefix);
  signed.set(bytes, prefix.length);
  const candidates = signatures.split(' ').flatMap((each) => (each.startsWith('v1,') ? [decoded(each.slice(3))] : []));
  for (const bytesOfKey of keys) {
    const key = await crypto.subtle.importKey('raw', bytesOfKey, { name: 'HMAC', hash: 'SHA-256' }, false, ['verify']);
    for (const candidate of candidates)
      if (await crypto.subtle.verify('HMAC', key, candidate, signed)) return eventIn(bytes);
  }
  const isGenerated = secrets.every((each) => String(each).startsWith('whsec_'));
  const hint = isGenerated ? '' : ', which starts with whsec_ if the service generated it';
  throw new VerificationError(`No signature matches. Check the secret${hint}, and that the body is unchanged`);
}

function required(isCorrect: boolean, argument: string, value: unknown): asserts isCorrect {
  requireArgument(isCorrect, argument, value, VerificationError);
}

/** The rules of the service for a secret. A variable of an .env file can contain quotes, and a header has `v1,` before a signature. */
function keyOf(secret: unknown): Uint8Array<ArrayBuffer> {
  required(isText(secret), 'secret as the secret of the webhook', secret);
  const key = secret.startsWith('whsec_') ? decoded(secret.slice(6)) : new TextEncoder().encode(secret);
  const isUsable = secret.startsWith('whsec_') ? key.length >= 16 : !secret.includes('whsec_');
  required(
    isUsable && secret.trim() === secret,
    'secret as the service shows it, without white space or quotes, and with all of its characters after whsec_',
    secret,
  );
  return key;
}

function bytesOf(body: unknown): Uint8Array {
  // Not `instanceof`, because tests and sandboxes have other globals.
  if (ArrayBuffer.isView(body)) return new Uint8Array(body.buffer, body.byteOffset, body.byteLength);
  if (Object.prototype.toString.call(body) === '[object ArrayBuffer]') return new Uint8Array(body as ArrayBuffer);
  required(typeof body === 'string', 'body as text or bytes, before it is parsed', body);
  // The encoder would replace a lone surrogate, so the signed text would be another one.
  if (/\p{Surrogate}/u.test(body)) throw new VerificationError('The body is not valid Unicode');
  return new TextEncoder().encode(body);
}

/** Parses a signed body. The service sends JSON in UTF-8 without a byte order mark. */
function eventIn<Event>(bytes: Uint8Array): Event {
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes));
  } catch {
    throw new VerificationError('The signed body is not JSON in UTF-8');
  }
}

/** Decodes base64. Invalid text never matches a signature. */
function decoded(text: string): Uint8Array<ArrayBuffer> {
  try {
    return Uint8Array.from(atob(text), (char) => char.charCodeAt(0));
  } catch {
    return new Uint8Array();
  }
}
