import type { APIGatewayProxyEvent } from 'aws-lambda';
import * as v from 'valibot';
import { isJsonObject, MAX_JSON_DEPTH, parseJson } from '../json.ts';
import { check, type Violation } from '../schema.ts';
import type { Space } from '../space.ts';
import { type Caller, callerOf, environmentFor } from './caller.ts';
import { chosenEnvironment, type Operation } from './operation.ts';
import { checkedHeaders, hasContent, headersOf, queryOf, repeatedHeaders } from './parameters.ts';
import { bodyTooLarge, documentNotAllowed, invalid, notFound, Problem } from './problems.ts';

/** A validated request. */
export interface Request<Query = unknown, Body = unknown, Parameter extends string = string> {
  id: string;
  caller: Caller;
  space: Space;
  /** The operation, as `METHOD /path/{parameter}`. */
  route: string;
  /** The IP address of the caller from API Gateway. */
  address: string;
  path: Readonly<Record<Parameter, string>>;
  query: Query;
  body: Body;
  /** Names in lower case. */
  headers: Readonly<Record<string, string>>;
  /** The parsed body, before its schema. */
  json: unknown;
}

/** A request of an operation for anyone. */
export type OpenRequest<Query = unknown, Body = unknown, Parameter extends string = string> = Omit<
  Request<Query, Body, Parameter>,
  'caller' | 'space'
>;

/** The violations of a body beyond its schema. The body can have any shape. */
export type BodyViolations = (json: unknown) => Violation[];

/**
 * Validates a proxy event against its operation. Returns the request, or a problem with every violation, including those of
 * `bodyViolations`. The request of an operation for anyone is an `OpenRequest`.
 */
export function parseRequest(
  event: APIGatewayProxyEvent,
  operation: Operation,
  bodyViolations: BodyViolations = () => [],
): Request | Problem {
  const headers = headersOf(event);
  if (bytesOf(event) > operation.maxBodyBytes) return bodyTooLarge(operation.maxBodyBytes);
  const text = textOf(event);
  if (text === null)
    return new Problem('invalid_json', 'Send one JSON object in UTF-8. Some bytes of the body are not UTF-8.');
  const json = parseBody(text, headers['content-type']);
  if (json instanceof Problem) return json;

  const caller = operation.callers === 'anyone' ? undefined : callerOf(event);
  const path = decoded(event.pathParameters ?? {});
  const chosenNames = check(chosenNamesSchema(operation), path);
  const ofCaller = (caller ? chosenEnvironment : {}) as typeof chosenEnvironment;
  const parameters = { ...operation.query, ...ofCaller };
  const { values, repeated } = queryOf(event, parameters);
  const query = check(v.strictObject(parameters), values);
  // To valibot an array is an object too.
  const body = isJsonObject(json)
    ? check(operation.body ?? v.strictObject({}), json)
    : { violations: [{ field: 'body', detail: 'must be an object' }] };
  const checked = [chosenNames, query, checkedHeaders(operation, headers), body];
  const violations = [
    ...repeated,
    ...repeatedHeaders(operation, event),
    ...checked.flatMap((each) => ('violations' in each ? each.violations : [])),
  ];
  // As for every other document that the token cannot access, so the response reveals nothing about a name.
  if (caller?.token && violations.some(({ kind }) => kind === 'document_name')) return documentNotAllowed();
  if (violations.length > 0 || 'violations' in query || 'violations' in body)
    return invalid([...violations, ...bodyViolations(json)]);

  const { environment: requested, ...ownQuery } = query.value; // the space says which
  const environment = caller && environmentFor(caller, requested);
  if (environment instanceof Problem) return environment;
  for (const [name, { resource, schema }] of Object.entries(operation.parameters))
    if (!v.is(schema, path[name])) return notFound(resource);
  const scope = caller && environment && { caller, space: { projectId: caller.projectId, environment } };
  return {
    id: event.requestContext.requestId,
    ...(scope as Pick<Request, 'caller' | 'space'>),
    route: `${operation.method} ${operation.path}`,
    address: event.requestContext.identity.sourceIp,
    path,
    query: ownQuery,
    body: body.value,
    headers,
    json,
  };
}

const UTF_8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

const bytesOf = (event: APIGatewayProxyEvent): number =>
  hasContent(event) ? Buffer.byteLength(event.body ?? '', event.isBase64Encoded ? 'base64' : 'utf8') : 0;

// API Gateway passes JSON as bytes, because it would otherwise replace invalid UTF-8.
function textOf(event: APIGatewayProxyEvent): string | null {
  if (!hasContent(event)) return '';
  const { body, isBase64Encoded } = event;
  if (!isBase64Encoded) return body ?? '';
  try {
    return UTF_8.decode(Buffer.from(body ?? '', 'base64'));
  } catch {
    return null;
  }
}

function parseBody(text: string, contentType: string | undefined): unknown {
  if (text === '') return {};
  if (!/^application\/json\s*(;|$)/i.test(contentType ?? '')) {
    return new Problem('unsupported_media_type', 'Send the body as Content-Type: application/json.');
  }
  try {
    return parseJson(text, MAX_JSON_DEPTH);
  } catch (error) {
    return new Problem('invalid_json', `Send one JSON object in UTF-8. The body ${reasonOf(text, error)}.`);
  }
}

// Uses only parts of the message of V8 that cannot contain the body, because it can contain a secret.
function reasonOf(text: string, error: unknown): string {
  // Editors and PowerShell can write one, and show none.
  if (text.startsWith('\ufeff')) return 'starts with a byte order mark';
  const message = error instanceof Error ? error.message : '';
  if (message.startsWith('nested deeper')) return `is ${message}`;
  if (message.startsWith('Unexpected end') || message.startsWith('Unterminated string')) return 'ends too early';
  const [position] = /(?<= (?:in|after) JSON at )position \d+(?= \(line \d+ column \d+\)$)/.exec(message) ?? [];
  return position ? `has an error at ${position}` : 'is not valid JSON';
}

// API Gateway passes the path parameters of a REST API percent-encoded.
function decoded(parameters: Record<string, string | undefined>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(parameters).map(([name, value = '']) => {
      try {
        return [name, decodeURIComponent(value)];
      } catch {
        return [name, value];
      }
    }),
  );
}

/** The schema of the names in the path that clients choose. Any other invalid parameter is an id that does not exist. */
const chosenNamesSchema = ({ parameters }: Pick<Operation, 'parameters'>) =>
  v.object(
    Object.fromEntries(
      Object.entries(parameters).flatMap(([name, { isChosen, schema }]) => (isChosen ? [[name, schema]] : [])),
    ),
  );
