import * as v from 'valibot';
import { type ApiFunction, callersText, type Operation } from '../api/operation.ts';
import { type OperationId, operations } from '../api/operations.ts';
import { EVENT_TYPES } from '../events/types.ts';
import { delivered } from './deliveries.ts';
import { EXAMPLES } from './examples.ts';
import { parametersOf } from './parameters.ts';
import { allProblemExamples, HEADERS, responsesOf } from './responses.ts';
import { jsonSchemaOf, namedSchemas } from './schemas.ts';

const TAGS: Record<ApiFunction, { name: string; description: string }> = {
  keys: { name: 'Keys', description: 'API keys of the project: create, rotate, revoke, restrict to IP addresses.' },
  tokens: { name: 'Scoped tokens', description: 'Short-lived JWTs for some documents and permissions.' },
  project: { name: 'Project', description: 'The project, and who changed what in it.' },
  webhooks: { name: 'Webhooks', description: 'Endpoints for events, and the log of every delivery.' },
  events: { name: 'Events', description: 'Events from your own sync engine.' },
  documents: { name: 'Documents and sync', description: 'Documents, sync cycles and connections.' },
  leaks: { name: 'Leaked keys', description: 'Keys of this service that scanners find in public.' },
  dashboard: { name: 'Pages', description: 'The dashboard and this reference, without a credential.' },
};

const DESCRIPTION = `Authentication and webhooks for a document synchronization service.

Requests carry \`Authorization: Bearer <key or token>\`; bodies are JSON. An error is a problem document (RFC 9457) whose
\`code\` is stable; every code is explained under [errors](docs/errors). Lists are paginated: pass \`next_cursor\` as \`cursor\`.
An \`Idempotency-Key\` makes it safe to repeat a request that creates something. Browsers can call everything that a
scoped token can, from any origin (CORS). HEAD works wherever GET does.`;

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
      examples: allProblemExamples(server),
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
      'An API key: `svc_live_…` (live), `svc_test_…` (sandbox), `svc_read_…` (reads live documents), `svc_admin_…` (everything in its project, in the environment given in the query).',
  },
  ScopedToken: {
    type: 'http',
    scheme: 'bearer',
    bearerFormat: 'JWT',
    description:
      'A scoped token of at most 2,048 bytes. It covers the documents that match its patterns, as long as its parent key works.',
  },
};

function describe(id: OperationId, operation: Operation) {
  const { function: fn, summary, callers, body } = operation;
  const isPublic = callers === 'anyone';
  const keyTypes = isPublic ? [] : callers.filter((caller) => caller !== 'token');
  return {
    operationId: id,
    summary,
    description: isPublic ? 'No credential needed.' : `For ${callersText(operation)}.`,
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
    responses: responsesOf(id, operation),
  };
}
