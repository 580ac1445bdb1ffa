import type { Permission } from '../../../../lib/credentials.ts';
import { matchesPattern } from '../../../../lib/documents/patterns.ts';
import type { Environment } from '../../../../lib/space.ts';
import { isTextClaim, isTimeClaim, objectInPart } from '../state/jwt-parts.ts';

/** The content of a scoped token, which says nothing about whether the token works. Only the service knows that. */
export interface TokenClaims {
  tokenId: string;
  keyId: string;
  environment: Environment;
  documents: string[];
  permissions: Permission[];
  user?: string | undefined;
  /** Milliseconds since 1970. */
  issuedAt: number;
  expiresAt: number;
}

/** Decodes a token, or explains why it is invalid. */
export function decodeToken(text: string): { claims: TokenClaims } | { problem: string } {
  const parts = text.trim().split('.');
  if (text.trim().startsWith('svc_')) return { problem: 'is an API key, not a token' };
  if (parts.length !== 3) return { problem: 'must have three parts with dots between them' };
  const [header, claims] = parts.slice(0, 2).map(objectInPart);
  if (!header || !claims) return { problem: 'must be base64url-encoded JSON in its first two parts' };
  const { sub, jti, iat, exp, env, documents, permissions, user = '' } = claims;
  const isOurs =
    header['typ'] === 'svc-doc+jwt' &&
    [sub, jti, env, user].every(isTextClaim) &&
    [iat, exp].every(isTimeClaim) &&
    [documents, permissions].every(isTexts);
  if (!isOurs) return { problem: 'is a JWT, but no scoped token of this service' };
  return {
    claims: {
      tokenId: jti as string,
      keyId: sub as string,
      environment: env as Environment,
      documents: documents as string[],
      permissions: permissions as Permission[],
      ...(user !== '' && { user: user as string }),
      issuedAt: (iat as number) * 1000,
      expiresAt: (exp as number) * 1000,
    },
  };
}

const isTexts = (value: unknown): boolean => Array.isArray(value) && value.every(isTextClaim);

/** Whether a token allows an action on a document, and why. */
export function reachOf(
  { documents, permissions }: Pick<TokenClaims, 'documents' | 'permissions'>,
  isActive: boolean,
  permission: Permission,
  documentKey: string,
) {
  const pattern = documents.find((each) => matchesPattern(each, documentKey));
  if (!isActive) return { isAllowed: false, reason: 'The token is not active.' };
  if (pattern === undefined) return { isAllowed: false, reason: 'None of its patterns matches this key.' };
  if (!permissions.includes(permission)) {
    return { isAllowed: false, reason: `${pattern} matches, but the token has no ${permission} permission.` };
  }
  return { isAllowed: true, reason: `${pattern} matches, and the token has the ${permission} permission.` };
}
