import type { components } from './api.js';

/** An event as in the body of a delivery. Its `type` determines its `data`. */
export type WebhookEvent = components['schemas']['Event'];

/** A delivery that must not be trusted. */
export class VerificationError extends Error {}

export interface ReceivedDelivery {
  /** The raw body, before it is parsed. Bytes are exact. A string hides bytes that its decoder replaced. */
  body: string | Uint8Array;
  headers: Headers | Readonly<Record<string, string | readonly string[] | undefined>>;
  /** The secret of the webhook, or several, for example during a rotation. */
  secret: string | readonly string[];
  /** How many seconds the delivery can be old, and how far clocks can differ. The default is 300. */
  toleranceSeconds?: number;
}

/**
 * Verifies the signature and the age of a delivery (Standard Webhooks), and returns its event. Runs wherever Web Crypto does: Node.js,
 * browsers, Deno, Bun and edge runtimes. Throws `VerificationError`.
 */
export async function verify({
  body,
  headers,
  secret,
  toleranceSeconds = 300,
}: ReceivedDelivery): Promise<WebhookEvent> {
  const [id, timestamp, signatures] = ['webhook-id', 'webhook-timestamp', 'webhook-signature'].map((name) => {
    const value = headerOf(headers, name);
    if (value === undefined) throw new VerificationError(`The header ${name} is missing`);
    return value;
  }) as [string, string, string];
  const seconds = /^\d{1,12}$/.test(timestamp) ? Number(timestamp) : Number.NaN;
  if (!(Math.abs(Date.now() / 1000 - seconds) <= toleranceSeconds))
    throw new VerificationError(`The delivery is older than ${toleranceSeconds} s, or the clocks differ`);
  // The encoder would replace a lone surrogate, so the signed text would be another one.
  if (typeof body === 'string' && /\p{Surrogate}/u.test(body))
    throw new VerificationError('The body is not valid Unicode');
  const bytes = typeof body === 'string' ? new TextEncoder().encode(body) : body;
  const prefix = new TextEncoder().encode(`${id}.${timestamp}.`);
  const signed = new Uint8Array(prefix.length + bytes.length);
  signed.set(prefix);
  signed.set(bytes, prefix.length);
  const candidates = signatures.split(' ').flatMap((each) => (each.startsWith('v1,') ? [decoded(each.slice(3))] : []));
  for (const each of [secret].flat()) {
    const secretBytes = each.startsWith('whsec_') ? decoded(each.slice(6)) : new TextEncoder().encode(each);
    if (secretBytes.length === 0) continue;
    const key = await crypto.subtle.importKey('raw', secretBytes, { name: 'HMAC', hash: 'SHA-256' }, false, ['verify']);
    for (const candidate of candidates)
      if (await crypto.subtle.verify('HMAC', key, candidate, signed)) return eventIn(bytes);
  }
  throw new VerificationError('No signature matches. Check the secret, and that the body is unchanged');
}

/** Parses a signed body. The service sends JSON in UTF-8 without a byte order mark. */
function eventIn(bytes: Uint8Array): WebhookEvent {
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes));
  } catch {
    throw new VerificationError('The signed body is not JSON in UTF-8');
  }
}

function headerOf(headers: ReceivedDelivery['headers'], name: string): string | undefined {
  if (headers instanceof Headers) return headers.get(name) ?? undefined;
  const found = Object.entries(headers).find(([each]) => each.toLowerCase() === name)?.[1];
  return typeof found === 'string' ? found : found?.[0];
}

/** Decodes base64. Invalid text never matches a signature. */
function decoded(text: string): Uint8Array<ArrayBuffer> {
  try {
    return Uint8Array.from(atob(text), (char) => char.charCodeAt(0));
  } catch {
    return new Uint8Array();
  }
}
