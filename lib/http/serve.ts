import type { APIGatewayProxyEvent, APIGatewayProxyResult } from 'aws-lambda';
import type * as v from 'valibot';
import { CORS_HEADERS, isForPages } from '../api/cors.ts';
import { type ApiFunction, mayCall, type Operation } from '../api/operation.ts';
import { type OperationId, type OperationOf, type Operations, operationAt } from '../api/operations.ts';
import {
  invalid,
  OUTCOME_UNKNOWN,
  PROBLEM_TYPE,
  PROBLEMS,
  problemBody,
  problemHeaders,
  Refusal,
} from '../api/problems.ts';
import { ConflictError, isTransient } from '../aws/dynamodb/errors.ts';
import type { Write } from '../aws/dynamodb/table.ts';
import {
  type FirstRun,
  fingerprintOf,
  type Idempotency,
  type RequestIdentity,
  type StoredAnswer,
} from './idempotency.ts';
import { type BodyFaults, parseRequest, type Request } from './request.ts';

type Output<Schema> = Schema extends v.GenericSchema ? v.InferOutput<Schema> : Record<never, never>;
type QueryOf<Id extends OperationId> = {
  [Name in keyof Operations[Id]['query']]: Output<Operations[Id]['query'][Name]>;
};
type BodyOf<Id extends OperationId> = Operations[Id] extends { body: infer Schema }
  ? Output<Schema>
  : Record<never, never>;
type AnswerOf<Id extends OperationId> = Operations[Id]['answers'][keyof Operations[Id]['answers']];

/** A success. `json` is a body that is text already and must not change. */
export interface Reply<Body = unknown> {
  body?: Body;
  json?: string;
  /** Default: the operation's usual status. */
  status?: number;
  headers?: Record<string, string>;
}

/** Builds the write that stores the answer under the request's idempotency key; empty if it has none. */
export type Completing = (reply: Reply) => Write[];

export type Handlers<Name extends ApiFunction> = {
  [Id in OperationOf<Name>]: (
    request: Request<QueryOf<Id>, BodyOf<Id>>,
    completing: Completing,
    identity: RequestIdentity | undefined,
  ) => Promise<Reply<Output<AnswerOf<Id>>> | Refusal>;
};

export interface DispatchLog {
  info(message: string, fields: Record<string, unknown>): void;
}

export interface DispatchDeps<Name extends ApiFunction> {
  idempotency: Idempotency;
  log: DispatchLog;
  /** Tells the operator about a request that failed on our side. */
  reportFailure(event: string, fields: Record<string, unknown>, error: unknown): void;
  /** What is wrong with a body beyond its schema, such as a time that has passed: named together with all other faults. */
  faults?: { [Id in OperationOf<Name>]?: BodyFaults };
}

export type ApiHandler = (event: APIGatewayProxyEvent) => Promise<APIGatewayProxyResult>;

/** The one way from a proxy event to a verb and back. */
export function createDispatch<Name extends ApiFunction>(
  handlers: Handlers<Name>,
  { idempotency, log, reportFailure, faults = {} }: DispatchDeps<Name>,
): ApiHandler {
  return async (event) => {
    const { requestId } = event.requestContext;
    const [operationId, operation] = operationAt(event.httpMethod, event.resource) ?? [];
    const answer = await answerTo(event).catch((error: unknown) => {
      if (!(error instanceof ConflictError))
        reportFailure('request.failed', { operation: operationId, request_id: requestId }, error);
      return refusalFor(error);
    });
    const result = answer instanceof Refusal ? problem(answer, requestId) : answer;
    log.info('request.handled', { operation: operationId, request_id: requestId, status: result.statusCode });
    const cors = operation && isForPages(operation) && CORS_HEADERS;
    const common = { 'X-Content-Type-Options': 'nosniff', 'X-Request-Id': requestId };
    result.headers = { ...result.headers, ...cors, ...common };
    return result;
  };

  async function answerTo(event: APIGatewayProxyEvent): Promise<APIGatewayProxyResult | Refusal> {
    const [id, operation] = operationAt(event.httpMethod, event.resource) ?? [];
    if (!id || !operation || !(id in handlers))
      return new Refusal('route_not_found', 'See the API reference for the operations.');
    const bodyFaults = faults[id as OperationOf<Name>];
    const request = parseRequest(event, operation, bodyFaults);
    if (request instanceof Refusal) return request;
    const { type, token } = request.caller;
    if (!mayCall(operation, type, token?.permissions ?? []))
      return new Refusal('insufficient_permissions', 'Use a credential that may call this operation.');
    const verb = checked(handlers[id as OperationOf<Name>] as unknown as Verb, bodyFaults);
    const key = request.headers['idempotency-key'];
    if (key === undefined || !operation.creates) {
      const reply = await verb(request, () => [], undefined);
      return reply instanceof Refusal ? reply : toResult(toAnswer(reply, operation));
    }
    const begun = await idempotency.begin(request, key, fingerprintOf(id, request));
    if (begun instanceof Refusal) return begun;
    if ('status' in begun) return toResult({ ...begun, headers: { ...begun.headers, 'Idempotency-Replayed': 'true' } });
    return runOnce(verb, request, operation, begun);
  }
}

type Verb = (
  request: Request,
  completing: Completing,
  identity: RequestIdentity | undefined,
) => Promise<Reply | Refusal>;

// A repetition is answered as the first request was, even if its body would be refused by now.
const checked = (verb: Verb, bodyFaults: BodyFaults = () => []): Verb => {
  return async (request, ...rest) => {
    const found = bodyFaults(request.json);
    return found.length > 0 ? invalid(found) : verb(request, ...rest);
  };
};

// What throws may have done its work: the same request may run again at once, with the same identity.
async function runOnce(
  verb: Verb,
  request: Request,
  operation: Operation,
  run: FirstRun,
): Promise<APIGatewayProxyResult | Refusal> {
  let completed = false;
  const completing = (planned: Reply): Write[] => {
    const write = run.completion(withoutSecrets(planned, operation));
    completed = write !== null;
    return write ? [write] : [];
  };
  try {
    const reply = await verb(request, completing, run);
    if (reply instanceof Refusal) {
      await run.release();
      return reply;
    }
    if (!completed) await run.finish(withoutSecrets(reply, operation));
    return toResult(toAnswer(reply, operation));
  } catch (error) {
    await run.abandon().catch(() => {}); // then the key is free when the run is taken for dead
    throw error;
  }
}

function withoutSecrets(reply: Reply, operation: Operation): StoredAnswer {
  if (operation.secrets.length === 0) return toAnswer(reply, operation);
  const entries = Object.entries(reply.body as object).filter(([name]) => !operation.secrets.includes(name));
  return toAnswer({ ...reply, body: Object.fromEntries(entries) }, operation);
}

function toAnswer({ body, json, status, headers = {} }: Reply, operation: Operation): StoredAnswer {
  const text = json ?? (body === undefined ? '' : JSON.stringify(body));
  const contentType: Record<string, string> = text === '' ? {} : { 'Content-Type': 'application/json' };
  return {
    status: status ?? Number(Object.keys(operation.answers)[0]),
    body: text,
    headers: { ...contentType, ...headers },
  };
}

function toResult({ status, body, headers }: StoredAnswer): APIGatewayProxyResult {
  return { statusCode: status, body, headers: { 'Cache-Control': 'no-store', ...headers } };
}

function problem(refusal: Refusal, requestId: string): APIGatewayProxyResult {
  const { status } = PROBLEMS[refusal.code];
  const headers = { 'Content-Type': PROBLEM_TYPE, 'Cache-Control': 'no-store', ...problemHeaders(status) };
  return { statusCode: status, headers, body: JSON.stringify(problemBody(refusal, requestId)) };
}

function refusalFor(error: unknown): Refusal {
  if (error instanceof ConflictError)
    return new Refusal(
      'unavailable',
      'Others changed it at the same time, and nothing was done. Send the request again.',
    );
  return new Refusal(isTransient(error) ? 'unavailable' : 'internal_error', OUTCOME_UNKNOWN);
}
