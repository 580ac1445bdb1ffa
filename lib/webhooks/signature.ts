import { createHmac, createSecretKey, type KeyObject } from 'node:crypto';

/**
 * The format of a signing secret. Libraries decode the part after `whsec_` as base64 (standardwebhooks.com), so it must be the
 * padded base64 of at least 16 bytes. The key of any other text is its UTF-8 bytes.
 */
export const USABLE_SECRET =
  /^(?!whsec_)|^whsec_([A-Za-z0-9+/]{4}){5,}([A-Za-z0-9+/]{4}|[A-Za-z0-9+/]{3}=|[A-Za-z0-9+/]{2}==)$/;

/** `X-Service-Signature`: `sha256=` + lowercase hex HMAC-SHA256 of the raw body, the secret's UTF-8 bytes as key. */
export function serviceSignature(secret: string, body: string | Uint8Array): string {
  return `sha256=${createHmac('sha256', secret).update(body).digest('hex')}`;
}

/** One signature of `webhook-signature` (standardwebhooks.com, "Signature scheme"): over `id.timestamp.body`. */
export function standardSignature(secret: string, id: string, timestampSeconds: number, body: string): string {
  const content = `${id}.${timestampSeconds}.${body}`;
  return `v1,${createHmac('sha256', standardKey(secret)).update(content).digest('base64')}`;
}

export interface Signing {
  secret: string;
  /** The previous secrets that still sign, newest first. */
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

// Node processes a key object four times faster than a buffer.
function standardKey(secret: string): KeyObject {
  return secret.startsWith('whsec_')
    ? createSecretKey(secret.slice('whsec_'.length), 'base64')
    : createSecretKey(secret, 'utf8');
}
