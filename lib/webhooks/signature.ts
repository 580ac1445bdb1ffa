import { createHmac, createSecretKey, type KeyObject } from 'node:crypto';

const BASE64 = /^[A-Za-z0-9+/]+={0,2}$/;

/** `X-Service-Signature`: `sha256=` + lowercase hex HMAC-SHA256 of the raw body, the secret's UTF-8 bytes as key. */
export function serviceSignature(secret: string, body: string): string {
  return `sha256=${createHmac('sha256', secret).update(body).digest('hex')}`;
}

/** One signature of `webhook-signature` (standardwebhooks.com, "Signature scheme"): over `id.timestamp.body`. */
export function standardSignature(secret: string, id: string, timestampSeconds: number, body: string): string {
  const content = `${id}.${timestampSeconds}.${body}`;
  return `v1,${createHmac('sha256', standardKey(secret)).update(content).digest('base64')}`;
}

export interface Signing {
  secret: string;
  /** Those before rotations that still sign, newest first. */
  previousSecrets?: readonly string[];
  id: string;
  timestampSeconds: number;
  body: string;
}

/** All signature headers of one attempt, for receivers of either scheme and on either side of secret rotations. */
export function signatureHeaders({
  secret,
  previousSecrets = [],
  id,
  timestampSeconds,
  body,
}: Signing): Record<string, string> {
  const [newest] = previousSecrets;
  return {
    'X-Service-Signature': serviceSignature(secret, body),
    ...(newest !== undefined && { 'X-Service-Signature-Previous': serviceSignature(newest, body) }),
    'webhook-id': id,
    'webhook-timestamp': String(timestampSeconds),
    'webhook-signature': [secret, ...previousSecrets]
      .map((each) => standardSignature(each, id, timestampSeconds, body))
      .join(' '),
  };
}

// The libraries of Standard Webhooks decode what follows `whsec_`; a customer's own secret may be any text.
// Node takes a key object four times faster than a buffer.
function standardKey(secret: string): KeyObject {
  const encoded = secret.startsWith('whsec_') ? secret.slice('whsec_'.length) : '';
  return BASE64.test(encoded) ? createSecretKey(encoded, 'base64') : createSecretKey(secret, 'utf8');
}
