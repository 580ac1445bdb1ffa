import { isObject, isText, requireArgument } from './arguments.ts';

/** What a request needs. Without `document_key` and `permission`, only the token itself is checked. */
export interface TokenCheck {
  document_key?: string;
  permission?: 'read' | 'write';
  /** The address of the end user, for the allowlist of the key that created the token. */
  address?: string;
}

/** The result of a check. An invalid, expired or revoked token has only `active: false`. */
export interface VerifiedToken {
  active: boolean;
  token_id?: string;
  environment?: 'live' | 'sandbox';
  documents?: string[];
  permissions?: ('read' | 'write')[];
  /** The user that the token was created for, or `null`. */
  user?: string | null;
  /** Whether the token gives the permission for the document to the address. */
  allowed?: boolean;
  expires_at?: string;
  /** How long the result can be reused. A revocation takes effect after this time at the latest. */
  cache_seconds?: number;
}

const isOptionalText = (value: unknown): boolean => value === undefined || isText(value);

/** Throws if an argument is wrong. A member with another name would check less than its caller expects. */
export function requireCheck(token: unknown, check: unknown): void {
  requireArgument(isText(token), 'the token as text', token);
  requireArgument(isObject(check), 'the check as an object, such as { document_key, permission }', check);
  const { document_key, permission, address, ...others } = check;
  requireArgument(isOptionalText(document_key), 'document_key as text', document_key);
  requireArgument(
    [undefined, 'read', 'write'].includes(permission as string),
    "permission as 'read' or 'write'",
    permission,
  );
  requireArgument(isOptionalText(address), 'address as text', address);
  const [other] = Object.keys(others);
  if (other !== undefined)
    throw new TypeError(`Pass document_key, permission and address in the check, and no member ${other}`);
}
