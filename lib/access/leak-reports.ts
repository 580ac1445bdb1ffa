import { verify } from 'node:crypto';
import * as v from 'valibot';
import { emailOf } from '../email.ts';
import { list } from '../lists.ts';
import { printable } from '../printable.ts';
import { described } from '../schema.ts';
import type { KeyRecord } from './keys.ts';
import type { ProjectRecord } from './projects.ts';

/*
 * GitHub reports where it found text that looks like a key of this service (GitHub Docs, "Secret scanning partner program"). One
 * of its published keys signs the request: ECDSA over P-256 and SHA-256 of the raw body.
 */

/** Matches of one report. */
const MAX_MATCHES = 1000;

/** A place where text that looks like a key was found. Additional members are allowed. */
export const LeakMatch = v.looseObject(
  {
    token: described(v.string('must be a string'), 'The text that was found.'),
    type: described(v.string('must be a string'), 'The name of the pattern that matched.'),
    url: described(v.nullish(v.string('must be a string')), 'Where the token was found. Can be empty.'),
    source: v.optional(described(v.string('must be a string'), 'The kind of source, such as `commit`.')),
  },
  'must be an object',
);
export type LeakMatch = v.InferOutput<typeof LeakMatch>;

export const LeakReport = list(LeakMatch, 0, MAX_MATCHES);

export const LeakFeedback = v.array(
  v.strictObject({
    token_hash: described(v.string(), 'The hexadecimal SHA-256 of the token.'),
    token_type: described(v.string(), 'The `type` of the match.'),
    label: described(v.picklist(['true_positive', 'false_positive']), 'Whether it is a key of this service.'),
  }),
);

/** The keys that GitHub publishes. */
export const PublishedKeys = v.object({
  public_keys: v.array(v.object({ key_identifier: v.string(), key: v.string() })),
});

/** Whether the owner of a published key (PEM) signed these bytes. The signature is DER in base64. */
export function isSignedBy(publicKey: string, body: Uint8Array, signature: string): boolean {
  try {
    return verify('sha256', body, publicKey, Buffer.from(signature, 'base64'));
  } catch {
    return false;
  }
}

/** The outcome for a leaked key. `kept`: it is the last admin key of the project. */
export type LeakOutcome = 'revoked' | 'kept' | 'reported' | 'ended';

const DONE: Record<LeakOutcome, string> = {
  revoked: 'We revoked it, so requests with it return 401. Create a new key for the applications that used it.',
  kept: 'It still works. We did not revoke it, because it is the last admin key of the project. Create another admin key, then revoke this one immediately.',
  reported: 'It still works. Rotate it, deploy the new key, then revoke this one immediately.',
  ended: 'It was already revoked or expired. No action is needed.',
};

/** The maximum number of places in an email and in the audit log, because a table item has at most 400 KB. */
const MAX_PLACES = 20;
const MAX_PLACE_LENGTH = 2048;

/** Where a key was found, each place once and on one line. */
export const placesOf = (matches: readonly LeakMatch[]): string[] => {
  const places = matches.flatMap(({ url }) =>
    url ? [printable(url.slice(0, MAX_PLACE_LENGTH).toWellFormed()).replace(/\s+/g, ' ')] : [],
  );
  return [...new Set(places)].slice(0, MAX_PLACES);
};

/** The email about a key that was found in public. It does not contain the key. */
export function leakEmail(
  project: ProjectRecord,
  { id, type, hint, name: keyName }: KeyRecord,
  places: readonly string[],
  outcome: LeakOutcome,
) {
  const named = keyName === null ? '' : ` "${keyName}"`;
  return emailOf(project, `API key found in public: …${hint} (${project.name})`, [
    `GitHub found the ${type} key${named} (${id}, ending in ${hint}) of the project "${project.name}" in public.`,
    `Found at:\n${places.length > 0 ? places.join('\n') : 'GitHub reported no location'}`,
    DONE[outcome],
    'Someone may have used the key. Review the audit log (GET /v1/audit).',
  ]);
}
