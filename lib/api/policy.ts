import { isAllowed } from '../access/allowlist.ts';
import type { KeyRecord } from '../access/keys.ts';
import { MAX_TOKEN_BYTES, type Permission } from '../access/tokens.ts';
import type { CallerType } from './operation.ts';
import { allowedRoutes } from './operations.ts';
import { PROBLEMS } from './problems.ts';

/** RFC 6750 §2.1 in the one form that is accepted: the scheme, one space, one credential. */
const BEARER = /^Bearer ([A-Za-z0-9._~+/_-]+=*)$/i;

/** The credential of an `Authorization` header, or `null` if there is not exactly one, or it is longer than any can be. */
export function bearerCredential(header: string | undefined): string | null {
  const credential = BEARER.exec(header ?? '')?.[1];
  return credential !== undefined && credential.length <= MAX_TOKEN_BYTES ? credential : null;
}

const FORBIDDEN = {
  insufficient_permissions: 'Use a credential that is allowed to call this operation.',
  ip_not_allowed: 'Call from an address on the allowlist of the key.',
} as const;
export type Forbidden = keyof typeof FORBIDDEN;

/** What the gateway's 403 says if the policy does not admit the request: nothing but these fixed texts. */
export const forbidden = (code: Forbidden) => ({ code, title: PROBLEMS[code].title, detail: FORBIDDEN[code] });

export type Decision = { allowed: true } | { allowed: false; code: Forbidden };

/** What a genuine, usable key may do from this address. */
export function decide({ cidrs }: Pick<KeyRecord, 'cidrs'>, address: string): Decision {
  return isAllowed(cidrs, address) ? { allowed: true } : { allowed: false, code: 'ip_not_allowed' };
}

/** The ARN patterns that a caller may call, of the API and stage that a method ARN names. */
export function allowedArns(type: CallerType, permissions: readonly Permission[], methodArn: string): string[] {
  return allowedRoutes(type, permissions).map((route) => `${stageArn(methodArn)}/${route}`);
}

/** Every method of the stage that a method ARN (`arn:…:<api>/<stage>/<METHOD>/<path>`) belongs to. */
export const stageArn = (methodArn: string): string => methodArn.split('/').slice(0, 2).join('/');
