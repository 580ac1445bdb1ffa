import type { APIGatewayAuthorizerResult, APIGatewayRequestAuthorizerEvent, Statement } from 'aws-lambda';
import { type Authenticated, authenticate } from '../keys/authenticate.ts';
import type { KeyRecord } from '../keys/key.ts';
import { type KeyUse, useToRecord } from '../keys/usage.ts';
import { type ProjectRecord, projectState } from '../projects/project.ts';
import { operationAt } from './operations.ts';
import { bearerCredential, callerTypeOf, type Decision, decide, pathArns, stageArn, suspended } from './policy.ts';

/** A key and the project that it belongs to. `undefined`: the project is deleted. */
export interface KeyWithProject extends KeyRecord {
  project: ProjectRecord | undefined;
}

export interface AuthorizerDeps {
  keys: {
    /** Strongly consistent, so a revocation or a suspension applies immediately. */
    get(id: string): Promise<KeyWithProject | undefined>;
    recordUse(read: KeyRecord, use: KeyUse): Promise<void>;
  };
  /** The usage-plan key of a project. */
  shareKeyOf(projectId: string): string;
  /** The requests per second of a project, which responses state. */
  requestsPerSecond: string | undefined;
  clock(): number;
  log: {
    info(event: string, fields: Record<string, unknown>): void;
    warn(event: string, fields: Record<string, unknown>): void;
  };
  reportFailure(event: string, fields: Record<string, unknown>, error: unknown): void;
}

/** API Gateway responds with 401 to exactly this message. It never says which part of the credential was wrong. */
class Unauthorized extends Error {
  constructor() {
    super('Unauthorized');
  }
}

/** A REQUEST authorizer. It reads the key with its project, and nothing for malformed credentials. */
export function authorizer({ keys, shareKeyOf, requestsPerSecond, clock, log, reportFailure }: AuthorizerDeps) {
  return async (event: APIGatewayRequestAuthorizerEvent): Promise<APIGatewayAuthorizerResult> => {
    try {
      return await decideOn(event);
    } catch (error) {
      // The gateway responds with 503 to any other error.
      if (!(error instanceof Unauthorized))
        reportFailure('authorization.failed', { request_id: event.requestContext.requestId }, error);
      throw error;
    }
  };

  async function decideOn(event: APIGatewayRequestAuthorizerEvent): Promise<APIGatewayAuthorizerResult> {
    const credential = bearerCredential(headerOf(event)) ?? '';
    const authenticated = await authenticate(credential, { keys, clock });
    const { requestId } = event.requestContext;
    const project = authenticated?.record.project;
    const state = project && projectState(project);
    if (!authenticated || !state || state === 'deleting') {
      log.info('request.rejected', { request_id: requestId, code: 'unauthorized' });
      throw new Unauthorized();
    }
    const { record } = authenticated;
    const [, operation] = operationAt(event.httpMethod, event.resource) ?? [];
    const decision =
      state === 'suspended' ? suspended() : decide(authenticated, operation, event.requestContext.identity.sourceIp);
    const use = useToRecord(record, clock());
    if (decision.allowed && use !== null) {
      await keys
        .recordUse(record, use)
        .catch((error: unknown) => log.warn('key.use_not_recorded', { key_id: record.id, error: error as Error }));
    }
    if (!decision.allowed) {
      const { code } = decision.problem;
      log.info('request.rejected', { request_id: requestId, code, key_id: record.id, operation: event.resource });
    }
    const resources = decision.allowed ? pathArns(event.methodArn, event.resource) : [stageArn(event.methodArn)];
    return {
      ...policy(resources, authenticated, decision, requestsPerSecond),
      usageIdentifierKey: shareKeyOf(record.projectId),
    };
  }
}

function policy(
  resources: string[],
  caller: Authenticated,
  decision: Decision,
  requestsPerSecond: string | undefined,
): APIGatewayAuthorizerResult {
  const { record, grant } = caller;
  const statement: Statement = {
    Effect: decision.allowed ? 'Allow' : 'Deny',
    Action: 'execute-api:Invoke',
    Resource: resources,
  };
  return {
    principalId: record.id,
    policyDocument: { Version: '2012-10-17', Statement: [statement] },
    context: {
      project_id: record.projectId,
      key_id: record.id,
      caller: callerTypeOf(caller),
      requests_per_second: requestsPerSecond,
      ...(grant && { token: JSON.stringify(grant) }),
      ...(!decision.allowed && { ...decision.problem }),
    },
  };
}

// API Gateway keeps the case of header names. Two headers with this name count as two credentials.
function headerOf({ multiValueHeaders }: APIGatewayRequestAuthorizerEvent): string | undefined {
  const values = Object.entries(multiValueHeaders ?? {}).flatMap(([name, all]) =>
    name.toLowerCase() === 'authorization' ? (all ?? []) : [],
  );
  return values.length === 1 ? values[0] : undefined;
}
