import * as v from 'valibot';
import type { Random } from '../ids.ts';
import { charactersOf, text } from '../schema.ts';
import { USABLE_SECRET } from './signature.ts';

/** How long an old secret signs in addition to the new one. */
export const SECRET_GRACE_MS = 24 * 60 * 60 * 1000;
/** Replaced secrets that sign at the same time. */
export const MAX_PREVIOUS_SECRETS = 5;

/** A secret that a request sets. */
export const Secret = v.pipe(
  text(1, 256),
  v.check((value) => USABLE_SECRET.test(value), 'must have the base64 of at least 16 bytes after whsec_'),
  v.metadata({ jsonSchema: { allOf: [{ pattern: USABLE_SECRET.source }] } }),
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
export function previousSecretsAt(
  { previousSecrets = [] }: { previousSecrets?: PreviousSecret[] | undefined },
  nowMs: number,
) {
  return previousSecrets.filter(({ until }) => nowMs < until);
}

// A hint must not reveal a short secret.
export function secretHint(value: string): string {
  const characters = charactersOf(value);
  return characters.length >= 16 ? characters.slice(-4).join('') : '';
}
