import * as v from 'valibot';
import { type ApiFunction, creating, type Operation } from '../api/operation.ts';
import { type OperationId, operations } from '../api.ts';
import { EVENT_MEANINGS, EVENT_TYPES } from '../event-types.ts';
import { PROBLEM_TYPE, PROBLEMS, type ProblemCode, problemBody, problemHeaders } from '../problem.ts';
import { RETRY_DELAYS_SECONDS } from '../schedule.ts';
import { oneOf } from '../schema.ts';
import { ENVIRONMENTS } from '../space.ts';
import { EXAMPLE_EVENTS, EXAMPLE_IDS, EXAMPLES } from './examples.ts';
import { ADVICE, codesOf } from './problems.ts';
import { type JsonSchema, jsonSchemaOf, namedSchemas, refTo, schemaNameOf } from './schemas.ts';

const TAGS: Record<ApiFunction, { name: string; description: string }> = {
  keys: { name: 'Keys', description: 'API keys of the project: generate, rotate, revoke, restrict to addresses.' },
  tokens: { name: 'Scoped tokens', description: 'JWTs that reach some documents, for some seconds.' },
  webhooks: { name: 'Webhooks', description: 'Where events are delivered, and the log of every delivery.' },
  events: { name: 'Events', description: 'Events of a sync engine of your own.' },
  documents: { name: 'Documents and sync', description: 'Documents, sync cycles and connections.' },
  dashboard: { name: 'Pages', description: 'The dashboard and this reference; they need no credential.' },
};

const DESCRIPTION = `Authentication and webhooks for a document synchronization service.

Requests carry \`Authorization: Bearer <key or token>\`; bodies are JSON. An error is a problem document (RFC 9457) whose
\`code\` is stable; every code is explained under [errors](docs/errors). Lists come in pages: pass \`next_cursor\` as \`cursor\`.
An \`Idempotency-Key\` makes it safe to repeat a request that creates something. Pages of any origin may call whatever a
scoped token may (CORS).`;

/** The whole interface as an OpenAPI 3.1 document. `server` is the address that paths are relative to. */
export function openApiDocument(server: string) {
  const paths: Record<string, Record<string, unknown>> = {};
  for (const [id, operation] of Object.entries(operations) as [OperationId, Operation][]) {
    paths[operation.path] = { ...paths[operation.path], [operation.method.toLowerCase()]: describe(id, operation) };
  }
  return {
    openapi: '3.1.0',
    info: {
      title: 'Document synchronization: authentication and webhooks',
      version: '1',
      description: DESCRIPTION,
      license: { name: 'MIT', identifier: 'MIT' },
    },
    servers: [{ url: server }],
    tags: Object.values(TAGS),
    paths,
    webhooks: Object.fromEntries(EVENT_TYPES.map((type) => [type, { post: delivered(type) }])),
    components: {
      schemas: namedSchemas(),
      examples: allProblemExamples(),
      headers: HEADERS,
      securitySchemes: SECURITY_SCHEMES,
    },
  };
}

const SECURITY_SCHEMES = {
  ApiKey: {
    type: 'http',
    scheme: 'bearer',
    description:
      'An API key: `svc_live_…` (live), `svc_test_…` (sandbox), `svc_read_…` (reads live documents), `svc_admin_…` (all of its project, in the environment that the query names).',
  },
  ScopedToken: {
    type: 'http',
    scheme: 'bearer',
    bearerFormat: 'JWT',
    description:
      'A scoped token of at most 2,048 bytes: reaches the documents that it names, as long as its parent key works.',
  },
};

const text = { type: 'string' };
const HEADERS = {
  'X-Request-Id': { description: 'Names the request in the logs.', schema: text },
  ETag: { description: 'The revision, in quotes.', schema: text },
  'Idempotency-Replayed': { description: '`true`: this is the first answer again, without secrets.', schema: text },
  'Retry-After': { description: 'Seconds to wait.', schema: { type: 'integer' } },
  'WWW-Authenticate': { description: 'The scheme that is asked for.', schema: text },
};
const headersOf = (names: readonly string[]) =>
  Object.fromEntries(['X-Request-Id', ...names].map((name) => [name, { $ref: `#/components/headers/${name}` }]));

function describe(id: OperationId, operation: Operation) {
  const { function: fn, summary, callers, body, answers } = operation;
  const isPublic = callers === 'anyone';
  const keyTypes = isPublic ? [] : callers.filter((caller) => caller !== 'token');
  return {
    operationId: id,
    summary,
    tags: [TAGS[fn].name],
    security: isPublic
      ? []
      : [{ ApiKey: keyTypes }, ...(callers.includes('token') ? [{ ScopedToken: operation.permissions }] : [])],
    parameters: parametersOf(operation),
    ...(body && {
      requestBody: {
        // A body whose members are all optional may be left out.
        required: !v.is(body, {}),
        content: { 'application/json': { schema: jsonSchemaOf(body), example: EXAMPLES[id].body } },
      },
    }),
    responses: {
      ...Object.fromEntries(
        Object.entries(answers).map(([status, schema]) => [status, success(id, operation, Number(status), schema)]),
      ),
      ...refused(operation),
    },
  };
}

function parametersOf({ path, callers, query, headers, creates }: Operation): Parameter[] {
  const parameters: Parameter[] = [...path.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => pathParameter(name, path));
  const ofQuery = {
    ...query,
    ...(callers !== 'anyone' && { environment: v.optional(oneOf(ENVIRONMENTS)) }),
  };
  for (const [name, schema] of Object.entries(ofQuery)) {
    parameters.push(parameter('query', name, jsonSchemaOf(schema as v.GenericSchema)));
  }
  for (const [name, schema] of Object.entries({ ...headers, ...(creates && creating) })) {
    parameters.push(parameter('header', name, jsonSchemaOf(schema as v.GenericSchema)));
  }
  return parameters;
}

interface Parameter {
  name: string;
  in: 'path' | 'query' | 'header';
  required: boolean;
  description: string;
  schema: JsonSchema;
  example?: string;
}

const PARAMETERS: Record<string, string> = {
  environment: 'Which data space an admin key means; other credentials have one of their own.',
  limit: 'Entries in a page; 50 if absent.',
  cursor: '`next_cursor` of the page before.',
  status: 'Only deliveries of this status.',
  since: 'Only what happened at this time or later.',
  prefix: 'Only this document and those whose keys go on with `:` after it.',
  'Idempotency-Key': 'Makes a repetition of the request within 24 hours answer what the first one did.',
  'If-Match': 'Only if the document has this ETag; `*`: if it exists.',
  'If-None-Match': 'Only if the document does not have this ETag; `*`: if it does not exist.',
  'X-Node-Id': 'Names the replica that writes; the credential, if absent.',
};

const parameter = (place: 'query' | 'header', name: string, schema: JsonSchema): Parameter => ({
  name,
  in: place,
  required: false,
  description: PARAMETERS[name] ?? '',
  schema,
});

function pathParameter(name: string, path: string): Parameter {
  const [description, example] = PATH_PARAMETERS.find(([pattern]) => pattern.test(path))?.slice(1) as [string, string];
  const isEvent = name === 'event_id';
  return {
    name,
    in: 'path',
    required: true,
    description: isEvent ? 'The id of the event.' : description,
    schema: text,
    example: isEvent ? EXAMPLE_IDS.event_id : example,
  };
}

const PATH_PARAMETERS: [pattern: RegExp, description: string, example: string][] = [
  [/^\/v1\/keys/, 'The id of the key, or the key itself.', EXAMPLE_IDS.key],
  [/^\/v1\/webhooks/, 'The id of the webhook.', EXAMPLE_IDS.id],
  [/^\/v1\/events/, 'The id of the event.', EXAMPLE_IDS.event_id],
  [/^\/v1\/documents/, 'The key of the document.', EXAMPLE_IDS.document_key],
  [/^\/v1\/connections/, 'A name of your own: 1 to 64 of `A-Z a-z 0-9 _ -`.', EXAMPLE_IDS.connection_id],
  [/\{file\}$/, 'The name of the file, with the hash of its content.', 'app-5XQ3TN2K.js'],
];

function success(id: OperationId, operation: Operation, status: number, schema: v.GenericSchema | null) {
  const isUsual = status === Number(Object.keys(operation.answers)[0]);
  const { answer } = EXAMPLES[id];
  const headers = [
    ...(operation.path === '/v1/documents/{key}' && operation.method !== 'DELETE' ? ['ETag'] : []),
    ...(operation.creates ? ['Idempotency-Replayed'] : []),
  ];
  return {
    description: STATUSES[status] ?? '',
    headers: headersOf(headers),
    ...(schema && {
      content: {
        [operation.produces]: {
          schema: jsonSchemaOf(schema),
          ...(isUsual && answer !== undefined && { example: answer }),
        },
      },
    }),
  };
}

const STATUSES: Record<number, string> = {
  200: 'Done.',
  201: 'Created.',
  202: 'Accepted: what follows from it happens after this answer.',
  204: 'Done; there is no body.',
  304: 'Not changed since the ETag in If-None-Match.',
};

function refused(operation: Operation) {
  const codes = codesOf(operation);
  const statuses = [...new Set(codes.map((code) => PROBLEMS[code].status))];
  return Object.fromEntries(
    statuses.map((status) => {
      const own = codes.filter((code) => PROBLEMS[code].status === status);
      return [
        status,
        {
          description: own.map((code) => `\`${code}\`: ${PROBLEMS[code].title}.`).join(' '),
          headers: headersOf(Object.keys(problemHeaders(status))),
          content: { [PROBLEM_TYPE]: { schema: problemSchema(own), examples: problemExamples(own) } },
        },
      ];
    }),
  );
}

const problemSchema = (codes: ProblemCode[]) => ({
  allOf: [{ $ref: refTo('Problem') }, { type: 'object', properties: { code: { enum: codes } } }],
});

const problemExamples = (codes: readonly string[]) =>
  Object.fromEntries(codes.map((code) => [code, { $ref: `#/components/examples/${code}` }]));

function allProblemExamples() {
  const codes = Object.keys(PROBLEMS) as ProblemCode[];
  const faults = [{ field: 'limit', detail: 'must be an integer from 1 to 100' }];
  return Object.fromEntries(
    codes.map((code) => {
      const refusal = { code, detail: ADVICE[code], errors: code === 'invalid_request' ? faults : undefined };
      return [code, { summary: PROBLEMS[code].title, value: problemBody(refusal, EXAMPLE_IDS.request_id) }];
    }),
  );
}

/** What a receiver gets (interface §5.1). */
function delivered(type: (typeof EVENT_TYPES)[number]) {
  const required = (name: string, description: string, schema: JsonSchema = text) => ({
    name,
    in: 'header',
    required: !name.endsWith('-Previous') && name !== 'X-Service-Test',
    description,
    schema,
  });
  return {
    operationId: `deliver${schemaNameOf(type)}`,
    summary: EVENT_MEANINGS[type],
    description: `Any 2xx within 5 seconds is success. Everything else is tried again ${RETRY_DELAYS_SECONDS.map(duration).join(', ')} after the failure before; the sixth failure disables the webhook. An event may come twice, and events come in no particular order.`,
    security: [],
    parameters: [
      required('X-Service-Signature', '`sha256=` and the hexadecimal HMAC-SHA256 of the raw body under the secret.', {
        type: 'string',
        pattern: '^sha256=[0-9a-f]{64}$',
      }),
      required('X-Service-Signature-Previous', 'The same under the old secret, for 24 hours after a rotation.'),
      required('X-Service-Event-Id', 'The id of the event: the same at every attempt.'),
      required('X-Service-Event-Type', 'The type of the event.', { const: type }),
      required('X-Service-Attempt', 'Counts the attempts.', { type: 'integer', minimum: 1, maximum: 6 }),
      required('X-Service-Test', '`true`: a sample event.'),
      required('webhook-id', 'As Standard Webhooks has it: the id of the event.'),
      required('webhook-timestamp', 'When this attempt was signed, in seconds since 1970.'),
      required('webhook-signature', '`v1,` and the signature by Standard Webhooks; two of them after a rotation.'),
    ],
    requestBody: {
      required: true,
      content: { 'application/json': { schema: { $ref: refTo(schemaNameOf(type)) }, example: EXAMPLE_EVENTS[type] } },
    },
    responses: {
      '2XX': { description: 'Taken. Work that takes long is done after the answer.' },
      default: { description: 'Failed: it is tried again.' },
    },
  };
}

const duration = (seconds: number): string => (seconds < 3600 ? `${seconds / 60} min` : `${seconds / 3600} h`);
