import { isAllowed } from '../keys/allowlist.ts';
import type { Authenticated } from '../keys/authenticate.ts';
import { MAX_TOKEN_BYTES } from '../keys/token.ts';
import { type CallerType, callersText, mayCall, type Operation } from './operation.ts';
import { PROBLEMS } from './problems.ts';

/** The only accepted form of RFC 6750 §2.1: the scheme, one space, one credential. */
const BEARER = /^Bearer ([A-Za-z0-9._~+/_-]+=*)$/i;

/** The credential of an `Authorization` header, or `null` if there is not exactly one, or if it is too long. */
export function bearerCredential(header: string | undefined): string | null {
  const credential = BEARER.exec(header ?? '')?.[1];
  return credential !== undefined && credential.length <= MAX_TOKEN_BYTES ? credential : null;
}

/** The content of the gateway's 403 response. The gateway inserts the texts into JSON unescaped, so they contain no quotes and no client input. */
interface Forbidden {
  code: 'insufficient_permissions' | 'ip_not_allowed' | 'project_suspended';
  title: string;
  detail: string;
}
export type Decision = { allowed: true } | { allowed: false; problem: Forbidden };

/** The type of the caller's credential. */
export const callerTypeOf = ({ record, grant }: Authenticated): CallerType => (grant ? 'token' : record.type);

/**
 * Whether a valid credential can call an operation from this address. Other methods of a path have no operation, so every
 * credential receives the 405 with the methods of the path.
 */
export function decide(caller: Authenticated, operation: Operation | undefined, address: string): Decision {
  const { record, grant } = caller;
  if (!isAllowed(record.cidrs, address))
    return forbidden('ip_not_allowed', `The allowlist of the key does not include ${address}, your address.`);
  if (!operation) return { allowed: true };
  const type = callerTypeOf(caller);
  const permissions = grant?.permissions ?? [];
  if (mayCall(operation, type, permissions)) return { allowed: true };
  const own = grant ? `a scoped token with ${permissions.join(' and ')}` : `a key of type ${type}`;
  const { method, path } = operation;
  return forbidden(
    'insufficient_permissions',
    `Call ${method} ${path} with ${callersText(operation)}. This credential is ${own}.`,
  );
}

/** The decision on every request of a suspended project. */
export const suspended = (): Decision =>
  forbidden('project_suspended', 'Contact the operator, who suspended this project.');

const forbidden = (code: Forbidden['code'], detail: string): Decision => ({
  allowed: false,
  problem: { code, title: PROBLEMS[code].title, detail },
});

/**
 * The ARN patterns of a path, with the API, stage and method of the method ARN (`arn:…:<api>/<stage>/<METHOD>/<path>`). API Gateway
 * also routes the path with a trailing slash.
 */
export function pathArns(methodArn: string, path: string): string[] {
  const arn = methodArn.split('/').slice(0, 3).join('/') + path.replace(/\{\w+\}/g, '*');
  return [arn, `${arn}/`];
}

/** The ARN pattern of every method in the stage of a method ARN. */
export const stageArn = (methodArn: string): string => `${methodArn.split('/').slice(0, 2).join('/')}/*`;
