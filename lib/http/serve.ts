import type { APIGatewayProxyEvent, APIGatewayProxyResult } from 'aws-lambda';
import type * as v from 'valibot';
import type { Backend } from '../aws/backend.ts';
import type { Write } from '../aws/writes.ts';
import { ConflictError, UnavailableError } from '../errors.ts';
import { baseUrlOf, locationHeader } from './base-url.ts';
import { mayCall } from './caller.ts';
import { API_HEADERS, CORS_HEADERS } from './headers.ts';
import { type IdempotencyLock, idempotencyRecords, type RequestIdentity } from './idempotency-store.ts';
import { isPublishing, type Operation, type OperationResponse, type OperationTable } from './operation.ts';
import { invalid, OUTCOME_UNKNOWN, Problem, problemResult, routeNotFound, tooManyDeliveries } from './problems.ts';
import { fingerprintOf, replayable, type StoredResponse, storedResponse } from './replay.ts';
import { type BodyViolations, type OpenRequest, parseRequest, type Request } from './request.ts';
import { allowsCrossOrigin, byRoute, callersText } from './route.ts';

type Output<Schema> = Schema extends v.GenericSchema ? v.InferOutput<Schema> : Record<never, never>;
type QueryOf<Given extends Operation> = { [Name in keyof Given['query']]: Output<Given['query'][Name]> };
type BodyOf<Given extends Operation> = Given extends { body: infer Schema } ? Output<Schema> : Record<never, never>;
type ResponseOf<Given extends Operation> = Given['responses'][keyof Given['responses']];
type RequestOf<
  Given extends Operation,
  Parameter extends string = keyof Given['parameters'] & string,
> = Given['callers'] extends 'anyone'
  ? OpenRequest<QueryOf<Given>, BodyOf<Given>, Parameter>
  : Request<QueryOf<Given>, BodyOf<Given>, Parameter>;

/** Builds the writes that store the response under the request's idempotency key. Empty without a key. */
export type IdempotencyWrites = (response: OperationResponse) => Write[];

/** A handler for each operation of a table. */
export type Handlers<Table extends OperationTable> = {
  [Id in keyof Table]: (
    request: RequestOf<Table[Id]>,
    idempotencyWrites: IdempotencyWrites,
    identity: RequestIdentity | undefined,
  ) => Promise<OperationResponse<Output<ResponseOf<Table[Id]>>> | Problem>;
};

/** The violations of a body beyond its schema, such as a time in the past. They are listed with all other violations. */
export type ViolationsOf<Table extends OperationTable> = { [Id in keyof Table]?: BodyViolations };

export type ApiHandler = (event: APIGatewayProxyEvent) => Promise<APIGatewayProxyResult>;

/**
 * Handles a proxy event for one of the operations: parses it, calls the handler and converts the result, with idempotency keys. Other
 * routes do not exist.
 */
export function serve<Table extends OperationTable>(
  operations: Table,
  handlers: Handlers<Table>,
  backend: Backend,
  violations: ViolationsOf<Table> = {},
): ApiHandler {
  const operationAt = byRoute(operations);
  const { log, reportFailure } = backend;
  const baseUrl = baseUrlOf(backend);
  const idempotency = idempotencyRecords(backend);
  return async (event) => {
    const { requestId } = event.requestContext;
    const [operationId, operation] = operationAt(event.httpMethod, event.resource) ?? [];
    const response = await respondTo(event, operationId, operation).catch((error: unknown) => {
      if (!(error instanceof ConflictError))
        reportFailure('request.failed', { operation: operationId, request_id: requestId }, error);
      return problemFor(error);
    });
    // Successful requests appear only in the access log, because a line of a log costs as much as a read of the table.
    if (response instanceof Problem)
      log.info('request.rejected', { operation: operationId, request_id: requestId, code: response.code });
    const result = response instanceof Problem ? problemResult(response, requestId, baseUrl) : proxyResult(response);
    const cors = operation && allowsCrossOrigin(operation) && CORS_HEADERS;
    const common = { ...API_HEADERS, 'X-Request-Id': requestId };
    const location = operation && locationHeader(result, operation, baseUrl);
    result.headers = { ...result.headers, ...location, ...cors, ...common };
    return result;
  };

  async function respondTo(
    event: APIGatewayProxyEvent,
    id: string | undefined,
    operation: Operation | undefined,
  ): Promise<StoredResponse | Problem> {
    if (!id || !operation) return routeNotFound();
    const bodyViolations = violations[id];
    const request = parseRequest(event, operation, bodyViolations);
    if (request instanceof Problem) return request;
    const { caller }: Partial<Request> = request; // none for an operation for anyone
    if (caller && !mayCall(operation, caller.type, caller.token?.permissions ?? []))
      return new Problem('insufficient_permissions', `Use ${callersText(operation)}.`);
    const publishAfterSeconds = caller?.publishAfterSeconds;
    // A repeated request gets the first response, even if its body is no longer valid, or the project has used up its budget since.
    const handle = handlers[id] as unknown as Handler;
    const handler: Handler = async (request, idempotencyWrites, identity) => {
      const found = bodyViolations?.(request.json) ?? [];
      if (found.length > 0) return invalid(found);
      const isAdmitted = !publishAfterSeconds || identity?.isRepeated || !isPublishing(operation, request.body);
      if (!isAdmitted) return tooManyDeliveries(publishAfterSeconds);
      return handle(request, idempotencyWrites, identity);
    };
    const key = request.headers['idempotency-key'];
    if (key === undefined || !operation.idempotencyKey) {
      const response = await handler(request, () => [], undefined);
      return response instanceof Problem ? response : storedResponse(response, operation);
    }
    const start = await idempotency.begin(request, key, fingerprintOf(id, request));
    if (start instanceof Problem) return start;
    if ('status' in start) return asReplayed(start);
    if ('repeated' in start) {
      const response = await handle(request, () => [], start.repeated);
      return response instanceof Problem ? response : asReplayed(storedResponse(response, operation));
    }
    return runOnce(handler, request, operation, start);
  }
}

type Handler = (
  request: Request,
  idempotencyWrites: IdempotencyWrites,
  identity: RequestIdentity | undefined,
) => Promise<OperationResponse | Problem>;

// A handler that throws may have done its work, so the same request can run again immediately with the same identity.
async function runOnce(
  handler: Handler,
  request: Request,
  operation: Operation,
  run: IdempotencyLock,
): Promise<StoredResponse | Problem> {
  let completed = false;
  const idempotencyWrites = (planned: OperationResponse): Write[] => {
    completed = true;
    return run.completion(replayable(planned, operation));
  };
  try {
    const response = await handler(request, idempotencyWrites, run);
    if (response instanceof Problem) {
      await run.release();
      return response;
    }
    if (!completed) await run.finish(replayable(response, operation));
    return storedResponse(response, operation);
  } catch (error) {
    await run.abandon().catch(() => {}); // otherwise the key is released when the run counts as ended
    throw error;
  }
}

const asReplayed = (response: StoredResponse): StoredResponse => ({
  ...response,
  headers: { ...response.headers, 'Idempotency-Replayed': 'true' },
});

const proxyResult = ({ status, body, headers }: StoredResponse): APIGatewayProxyResult => ({
  statusCode: status,
  body,
  headers: { 'Cache-Control': 'no-store', ...headers },
});

/** The problem of a request with an internal failure. Its outcome is unknown, except after conflicts. */
function problemFor(error: unknown): Problem {
  if (error instanceof ConflictError)
    return new Problem(
      'unavailable',
      'Send the request again. Nothing was changed, because of too many concurrent changes.',
    );
  return new Problem(error instanceof UnavailableError ? 'unavailable' : 'internal_error', OUTCOME_UNKNOWN);
}
