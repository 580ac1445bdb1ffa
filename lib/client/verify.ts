import type { components } from './api.js';

/** An event as in the body of a delivery. Its `type` determines its `data`. */
export type WebhookEvent = components['schemas']['Event'];

/** A delivery that must not be trusted. */
export class VerificationError extends Error {}

export interface ReceivedDelivery {
  /** The raw body, before it is parsed. */
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
  const text = typeof body === 'string' ? body : new TextDecoder().decode(body);
  const signed = new TextEncoder().encode(`${id}.${timestamp}.${text}`);
  const candidates = signatures.split(' ').flatMap((each) => (each.startsWith('v1,') ? [decoded(each.slice(3))] : []));
  for (const each of [secret].flat()) {
    const bytes = each.startsWith('whsec_') ? decoded(each.slice(6)) : new TextEncoder().encode(each);
    if (bytes.length === 0) continue;
    const key = await crypto.subtle.importKey('raw', bytes, { name: 'HMAC', hash: 'SHA-256' }, false, ['verify']);
    for (const candidate of candidates)
      if (await crypto.subtle.verify('HMAC', key, candidate, signed)) return JSON.parse(text) as WebhookEvent;
  }
  throw new VerificationError('No signature matches. Check the secret, and that the body is unchanged');
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
