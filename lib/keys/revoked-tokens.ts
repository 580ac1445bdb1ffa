import { createHmac } from 'node:crypto';
import * as v from 'valibot';
import type { Caller } from '../http/caller.ts';
import type { PathParameter } from '../http/path-parameter.ts';
import { fromDigits, ID_ALPHABET, timeOf } from '../id-time.ts';
import { idTag, type Random, SORTABLE, sortableId, toDigits } from '../ids.ts';
import type { KeyRecord } from './key.ts';
import { sameText } from './key-secret.ts';

/*
 * Revoked tokens are stored by id. The id of a token:
 *
 *   tok_ ┬ creation time, 10 characters ┐
 *        │ lifetime in seconds, 4       │ a sortable id
 *        │ random, 12                   ┘
 *        │ id of the parent key, 12
 *        └ tag, 6: an HMAC of the rest under the parent's token secret
 *
 * The tag keeps callers from filling the list of revoked tokens with made-up ids, because one guess in 2^30 is right.
 */
const LIFETIME_LENGTH = 4;
const KEY_LENGTH = 12;
const TAG_LENGTH = 6;

export const TokenId = v.pipe(
  v.string('must be a string'),
  v.regex(new RegExp(`^tok_${SORTABLE}[0-9A-Za-z]{${KEY_LENGTH}}[${ID_ALPHABET}]{${TAG_LENGTH}}$`)),
);

export const tokenParameter: PathParameter = {
  resource: 'token',
  schema: TokenId,
  description: 'The `token_id` of the token.',
  example: 'tok_01KG9Y2C4D03GGJ2K4M6N8P0Q201Fkq2Xb9TzA7Q4ZKD',
};

type Parent = Pick<KeyRecord, 'id' | 'tokenSecret'>;

/** The maximum difference between the clocks that create, verify and revoke a token. */
export const CLOCK_LEEWAY_MS = 5000;

/** The id of a new token. It names the parent key and the time at which the token expires. */
export function newTokenId(parent: Parent, ttlSeconds: number, nowMs: number, random: Random): string {
  const unique = sortableId('tok', nowMs, random, toDigits(ttlSeconds, LIFETIME_LENGTH));
  const untagged = unique + parent.id.replace('key_', '');
  return untagged + tagOf(untagged, parent);
}

/** The parent key that a token id names. */
export const keyIdOfToken = (tokenId: string): string => `key_${tokenId.slice(-KEY_LENGTH - TAG_LENGTH, -TAG_LENGTH)}`;

/** Whether this key created a token with this id. */
export const isTokenOf = (tokenId: string, parent: Parent): boolean =>
  sameText(tokenId.slice(-TAG_LENGTH), tagOf(tokenId.slice(0, -TAG_LENGTH), parent));

/** Whether the token can no longer be valid on any server. */
export const hasExpired = (tokenId: string, nowMs: number): boolean =>
  nowMs >= timeOf(tokenId) + fromDigits(idTag(tokenId, LIFETIME_LENGTH)) * 1000 + CLOCK_LEEWAY_MS;

const tagOf = (untagged: string, { tokenSecret }: Parent): string => {
  const mac = createHmac('sha256', Buffer.from(tokenSecret, 'base64url')).update(untagged).digest();
  return Array.from(mac.subarray(0, TAG_LENGTH), (byte) => ID_ALPHABET[byte & 31]).join('');
};

/** Whether a caller can revoke the tokens of a key. Keys of one type have the same rights, so the key that replaced it can, too. */
export const mayRevoke = (
  { projectId, type }: Pick<Caller, 'projectId' | 'type'>,
  parent: Pick<KeyRecord, 'projectId' | 'type'>,
): boolean => parent.projectId === projectId && (type === 'admin' || type === parent.type);

/** The maximum number of revoked tokens of one key that have not expired. Each request with the key reads this list. */
export const MAX_REVOKED_TOKENS = 100;

/** Adds a token to the revoked ones and drops those that have expired; `null` if the list is full. */
export function withRevoked(revoked: readonly string[], tokenId: string, nowMs: number): string[] | null {
  const others = revoked.filter((id) => !hasExpired(id, nowMs));
  return others.length < MAX_REVOKED_TOKENS ? [...others, tokenId] : null;
}
