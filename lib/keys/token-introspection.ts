import * as v from 'valibot';
import { PERMISSIONS } from '../credentials.ts';
import { matchesAny } from '../documents/patterns.ts';
import { optional } from '../optional.ts';
import { described, iso, oneOf, request, resource, timestamp, wholeNumber } from '../schema.ts';
import { ENVIRONMENTS } from '../space.ts';
import { Address, isAllowed } from './allowlist.ts';
import type { KeyRecord } from './key.ts';
import { expiryOf, type Grant } from './token.ts';

/** How long a server may use a response. A revocation reaches servers that cache responses within this time. */
const MAX_CACHE_SECONDS = 60;

/** Characters of the texts that are checked. Longer ones are violations, so a request stays small. */
const MAX_TOKEN_LENGTH = 8192;
const MAX_NAME_LENGTH = 4096;

// Any text is valid here, because the response says whether a text is a token that works for a document.
const anyText = (max: number) =>
  v.pipe(v.string('must be a string'), v.maxLength(max, `must have at most ${max} characters`));

export const VerifyToken = request('VerifyToken', {
  token: described(anyText(MAX_TOKEN_LENGTH), 'The token that a client presented.'),
  document_key: optional(
    described(anyText(MAX_NAME_LENGTH), 'The document that the client wants to access. Any text is valid.'),
  ),
  permission: optional(described(oneOf(PERMISSIONS), 'The permission that the client needs.')),
  address: optional(
    described(
      Address,
      'The IP address of the client, for the allowlist of the parent key. If the key has an allowlist, a request without `address` has `allowed: false`.',
    ),
  ),
});
type Question = v.InferOutput<typeof VerifyToken>;

/** An inactive token has no members but `active`, whatever the reason. */
export const TokenVerification = resource('TokenVerification', {
  active: described(
    v.boolean(),
    'Whether the token works in this environment. `false` for every other text, and then the response has no other members.',
  ),
  token_id: v.optional(described(v.string(), 'Identifies the token.')),
  environment: v.optional(described(v.picklist(ENVIRONMENTS), 'The environment of the token.')),
  documents: v.optional(described(v.array(v.string()), 'The patterns of document keys that the token covers.')),
  permissions: v.optional(described(v.array(v.picklist(PERMISSIONS)), '`write` does not imply `read`.')),
  user: v.optional(
    described(v.nullable(v.string()), 'The `user` of the request that created the token; `null` if it had none.'),
  ),
  allowed: v.optional(
    described(
      v.boolean(),
      'Whether the token gives `permission` for `document_key` to `address`. Members that the request omits are not checked, except that an allowlist needs `address`.',
    ),
  ),
  expires_at: v.optional(described(timestamp, 'When the token expires.')),
  cache_seconds: v.optional(
    described(wholeNumber(), `The seconds for which you may use this response: 0 to ${MAX_CACHE_SECONDS}.`),
  ),
});

/** The response about a token that works. */
export function verificationOf(
  { record, grant, now }: { record: Pick<KeyRecord, 'cidrs' | 'expiresAt'>; grant: Grant; now: number },
  { token, document_key, permission, address }: Question,
): v.InferOutput<typeof TokenVerification> {
  const { tokenId, environment, documents, permissions, user = null } = grant;
  const expiresAt = expiryOf(token);
  const worksUntil = Math.min(expiresAt, record.expiresAt ?? Number.POSITIVE_INFINITY);
  const isAdmitted = isAllowed(record.cidrs, address ?? '');
  const reachesDocument = document_key === undefined || matchesAny(documents, document_key);
  const hasPermission = permission === undefined || permissions.includes(permission);
  return {
    active: true,
    token_id: tokenId,
    environment,
    documents,
    permissions,
    user,
    allowed: isAdmitted && reachesDocument && hasPermission,
    expires_at: iso(expiresAt),
    cache_seconds: Math.min(MAX_CACHE_SECONDS, Math.floor((worksUntil - now) / 1000)),
  };
}
