import { createHmac, createSecretKey, type KeyObject } from 'node:crypto';
import * as v from 'valibot';
import type { Random } from '../ids.ts';
import { charactersOf, text } from '../schema.ts';

/**
 * The format of a signing secret. Libraries decode the part after `whsec_` as base64 (standardwebhooks.com), so it must be the
 * padded base64 of at least 16 bytes. The key of any other text is its UTF-8 bytes.
 */
const USABLE_SECRET =
  /^(?!whsec_)|^whsec_([A-Za-z0-9+/]{4}){5,}([A-Za-z0-9+/]{4}|[A-Za-z0-9+/]{3}=|[A-Za-z0-9+/]{2}==)$/;

/** Variables and forms lose white space at the ends. Control characters, such as tabs, have their own violation. */
const SPACE = '[ \\u00a0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000\\ufeff]';
const ENDS = new RegExp(`^(?!${SPACE})(?![\\s\\S]*${SPACE}$)`);
/** A copied secret with quotes or a version in front of it, which libraries would not decode. */
const PREFIX_AT_START = /^(?![\s\S]+whsec_)/;

/** Seconds for which old secrets sign in addition to the new one. The maximum and the default. */
export const SECRET_GRACE_SECONDS = 24 * 60 * 60;
/** Replaced secrets that sign at the same time. */
const MAX_PREVIOUS_SECRETS = 5;

/** A secret that a request sets. */
export const Secret = v.pipe(
  text(1, 256),
  v.check((value) => USABLE_SECRET.test(value), 'must have the base64 of at least 16 bytes after whsec_'),
  v.check((value) => ENDS.test(value), 'must not have white space at its ends'),
  v.check((value) => PREFIX_AT_START.test(value), 'must have whsec_ only at its start'),
  v.metadata({
    jsonSchema: { allOf: [USABLE_SECRET, ENDS, PREFIX_AT_START].map(({ source }) => ({ pattern: source })) },
  }),
);

/** A secret that was replaced, and when it stops signing. */
export interface PreviousSecret {
  secret: string;
  until: number;
}

/** `whsec_` + base64 of 32 bytes, the form of Standard Webhooks. */
export function generateSecret(random: Random): string {
  return `whsec_${Buffer.from(random(32)).toString('base64')}`;
}

/** The replaced secrets that still sign, newest first. */
export function previousSecretsAt({ previousSecrets = [] }: Pick<Secrets, 'previousSecrets'>, nowMs: number) {
  return previousSecrets.filter(({ until }) => nowMs < until);
}

/** The secrets of a webhook. `previousSecrets` are newest first. */
interface Secrets {
  secret: string;
  previousSecrets?: PreviousSecret[] | undefined;
}

type Rotation =
  | { outcome: 'rotated'; change: Secrets }
  | { outcome: 'current' }
  | { outcome: 'full'; freeAt: number; max: number };

/**
 * Replaces the secret. No old secret signs longer than the grace, in seconds. `current`: the new secret is the current one. `full`:
 * too many old secrets still sign. The first one stops at `freeAt`.
 */
export function rotated(
  { secret, previousSecrets }: Secrets,
  { newSecret, graceSeconds }: { newSecret: string; graceSeconds: number },
  nowMs: number,
): Rotation {
  if (newSecret === secret) return { outcome: 'current' };
  const end = nowMs + graceSeconds * 1000;
  const signing = previousSecretsAt({ previousSecrets }, nowMs).map(({ secret, until }) => ({
    secret,
    until: Math.min(until, end),
  }));
  if (graceSeconds > 0 && signing.length >= MAX_PREVIOUS_SECRETS)
    return { outcome: 'full', freeAt: Math.min(...signing.map(({ until }) => until)), max: MAX_PREVIOUS_SECRETS };
  const kept = graceSeconds === 0 ? [] : [{ secret, until: end }, ...signing];
  return { outcome: 'rotated', change: { secret: newSecret, previousSecrets: kept } };
}

// A hint must not reveal a short secret.
export function secretHint(value: string): string {
  const characters = charactersOf(value);
  return characters.length >= 16 ? characters.slice(-4).join('') : '';
}

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
