import type { APIGatewayAuthorizerResult, APIGatewayRequestAuthorizerEvent, Statement } from 'aws-lambda';
import type { Backend } from '../aws/backend.ts';
import { variable } from '../aws/runtime.ts';
import { secondsOverBudget } from '../deliveries/budget.ts';
import { mayCall } from '../http/caller.ts';
import { linesOf, multiValued } from '../http/headers.ts';
import { PROBLEMS } from '../http/problems.ts';
import { type CallerType, callersText, type Route } from '../http/route.ts';
import { isAllowed } from '../keys/allowlist.ts';
import { type Authenticated, authenticate } from '../keys/authenticate.ts';
import type { KeyRecord } from '../keys/key.ts';
import { type Rejection, rejectionToRecord } from '../keys/rejection.ts';
import { MAX_TOKEN_BYTES } from '../keys/signed-claims.ts';
import { apiKeys, keysWithProject } from '../keys/store.ts';
import { useToRecord } from '../keys/usage.ts';
import { projectState, shareKeyOf } from '../projects/project.ts';
import { routeAt } from './routes.ts';

/** A REQUEST authorizer. It reads the key with its project, and nothing for malformed credentials. */
export function authorizer(backend: Backend) {
  const { table, clock, log, reportFailure } = backend;
  const readKey = keysWithProject(table);
  const keys = apiKeys(table);
  const sharePrefix = variable(backend, 'SHARE_PREFIX');

  return async (event: APIGatewayRequestAuthorizerEvent): Promise<APIGatewayAuthorizerResult> => {
    const decision = await decideOn(event).catch((error: unknown) => {
      reportFailure('authorization.failed', { request_id: event.requestContext.requestId }, error);
      throw error; // the gateway responds with 503
    });
    // API Gateway responds with 401 to exactly this message. It never says which part of the credential was wrong.
    if (!decision) throw new Error('Unauthorized');
    return decision;
  };

  /** Returns `null` for an invalid credential. */
  async function decideOn(event: APIGatewayRequestAuthorizerEvent): Promise<APIGatewayAuthorizerResult | null> {
    const caller = await authenticate(bearerCredential(event) ?? '', readKey, clock);
    const { requestId, identity } = event.requestContext;
    const project = caller?.record.project;
    const state = project && projectState(project);
    if (!caller || !state || state === 'deleting' || 'end' in caller) {
      log.info('request.rejected', { request_id: requestId, code: 'unauthorized' });
      if (caller && 'end' in caller) await recordRejection(caller, caller.end);
      return null;
    }
    const { record, grant, session, now } = caller;
    const publishAfter = secondsOverBudget(project.deliveriesUsedUntil, now);
    const [, route] = routeAt(event.httpMethod, event.resource) ?? [];
    const problem = state === 'suspended' ? SUSPENDED : problemOf(caller, route, identity.sourceIp);
    if (problem) {
      const { code } = problem;
      log.info('request.rejected', { request_id: requestId, code, key_id: record.id, operation: event.resource });
      const reason = REJECTIONS[code];
      if (reason) await recordRejection(caller, reason);
    } else {
      const use = useToRecord(record, now);
      if (use) await unlessItFails(record, keys.recordUse(record, use));
    }
    const statement: Statement = {
      Effect: problem ? 'Deny' : 'Allow',
      Action: 'execute-api:Invoke',
      Resource: problem ? [stageArn(event.methodArn)] : pathArns(event.methodArn, event.resource),
    };
    return {
      principalId: record.id,
      policyDocument: { Version: '2012-10-17', Statement: [statement] },
      context: {
        project_id: record.projectId,
        key_id: record.id,
        caller: callerTypeOf(caller),
        ...(grant && { token: JSON.stringify(grant) }),
        ...(session && { session: JSON.stringify(session) }),
        ...(publishAfter > 0 && { publish_after: String(publishAfter) }),
        ...problem,
      },
      usageIdentifierKey: shareKeyOf(sharePrefix, record.projectId),
    };
  }

  async function recordRejection(
    { record, now }: { record: KeyRecord; now: number },
    reason: Rejection,
  ): Promise<void> {
    const rejection = rejectionToRecord(record.lastRejected, reason, now);
    if (rejection) await unlessItFails(record, keys.recordRejection(record, rejection));
  }

  /** The response to a request does not depend on the record of its key. */
  function unlessItFails({ id }: KeyRecord, recording: Promise<void>): Promise<void> {
    return recording.catch((error: unknown) => log.warn('key.use_not_recorded', { key_id: id, error: error as Error }));
  }
}

/** The problems that the record of a key contains. The others depend on the operation. */
const REJECTIONS: Partial<Record<Forbidden['code'], Rejection>> = {
  ip_not_allowed: 'ip_not_allowed',
  project_suspended: 'suspended',
};

/** The scheme in any case, spaces, one credential (RFC 6750 §2.1, RFC 9110 §11.4). */
const BEARER = /^Bearer +([A-Za-z0-9._~+/-]+=*)$/i;

/**
 * The credential of the `Authorization` header, or `null` if there is not exactly one, or if it is too long. Two headers with this
 * name count as two credentials. The type of AWS has `multiValueHeaders`, but the API Gateway Developer Guide documents only
 * `headers` ("Input to an API Gateway Lambda authorizer"), which has one line of each name.
 */
function bearerCredential({ headers, multiValueHeaders }: APIGatewayRequestAuthorizerEvent): string | null {
  const values = linesOf(multiValueHeaders ?? multiValued(headers), 'authorization');
  const credential = values.length === 1 ? BEARER.exec(values[0] ?? '')?.[1] : undefined;
  return credential !== undefined && credential.length <= MAX_TOKEN_BYTES ? credential : null;
}

/**
 * The content of the gateway's 403 response. The gateway inserts the texts into JSON unescaped, so they contain no quotes and no
 * client input.
 */
type Forbidden = ReturnType<typeof forbidden>;

const forbidden = (code: 'insufficient_permissions' | 'ip_not_allowed' | 'project_suspended', detail: string) => ({
  code,
  title: PROBLEMS[code].title,
  detail,
});

/** The problem of every request of a suspended project. */
const SUSPENDED = forbidden('project_suspended', 'Contact the operator, who suspended this project.');

/** The type of the caller's credential. */
const callerTypeOf = ({ record, grant, session }: Authenticated): CallerType =>
  session?.role ?? (grant ? 'token' : record.type);

/**
 * Why a valid credential cannot call an operation from this address, if so. Other methods of a path have no operation, so every
 * credential receives the 405 with the methods of the path. The allowlist of a key limits who can create dashboard links, and not
 * where the people are who open them.
 */
function problemOf(caller: Authenticated, route: Route | undefined, address: string): Forbidden | undefined {
  const { record, grant, session } = caller;
  if (!session && !isAllowed(record.cidrs, address))
    return forbidden('ip_not_allowed', `The allowlist of the key does not include ${address}, your address.`);
  const type = callerTypeOf(caller);
  const permissions = grant?.permissions ?? [];
  if (!route || mayCall(route, type, permissions)) return undefined;
  const { method, path } = route;
  return forbidden(
    'insufficient_permissions',
    `Call ${method} ${path} with ${callersText(route)}. This credential is ${credentialText(caller)}.`,
  );
}

function credentialText({ record, grant, session }: Authenticated): string {
  if (session) return `a dashboard link with the role ${session.role}`;
  return grant ? `a scoped token with ${grant.permissions.join(' and ')}` : `a key of type ${record.type}`;
}

/**
 * The ARN patterns of a path, with the API, stage and method of the method ARN (`arn:…:<api>/<stage>/<METHOD>/<path>`). API Gateway
 * also routes the path with a trailing slash.
 */
function pathArns(methodArn: string, path: string): string[] {
  const arn = methodArn.split('/').slice(0, 3).join('/') + path.replace(/\{\w+\}/g, '*');
  return [arn, `${arn}/`];
}

/** The ARN pattern of every method in the stage of a method ARN. */
const stageArn = (methodArn: string): string => `${methodArn.split('/').slice(0, 2).join('/')}/*`;
