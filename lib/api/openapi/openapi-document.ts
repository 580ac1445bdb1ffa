import * as v from 'valibot';
import { deliveryOperations, eventDeliveryOperations } from '../../deliveries/operations.ts';
import { documentOperations } from '../../documents/operations.ts';
import { eventTypeOperations } from '../../events/event-type-operations.ts';
import { eventOperations } from '../../events/operations.ts';
import { EVENT_TYPES } from '../../events/types.ts';
import { chosenEnvironment, idempotencyHeader, KIB, MAX_BODY_BYTES, type Operation } from '../../http/operation.ts';
import { type CallerType, callersText, isRole } from '../../http/route.ts';
import { linkOperations } from '../../keys/link-operations.ts';
import { keyOperations } from '../../keys/operations.ts';
import { tokenOperations } from '../../keys/token-operations.ts';
import { projectOperations } from '../../projects/operations.ts';
import { VERSION } from '../../version.ts';
import { webhookOperations } from '../../webhooks/operations.ts';
import type { OperationId } from '../operations.ts';
import { EXAMPLES } from './examples.ts';
import { delivered } from './openapi-events.ts';
import { allProblemExamples, HEADERS, problemResponses, responsesOf } from './responses.ts';
import { type JsonSchema, jsonSchemaOf, namedSchemas } from './schemas.ts';

/** The described operations. Pages for browsers are not part of the API. */
const GROUPS: { name: string; description: string; operations: Partial<Record<OperationId, Operation>> }[] = [
  {
    name: 'Keys',
    description: 'API keys of the project: create, rotate, revoke, restrict to IP addresses.',
    operations: keyOperations,
  },
  {
    name: 'Scoped tokens',
    description: 'Short-lived JWTs for some documents and permissions.',
    operations: tokenOperations,
  },
  {
    name: 'Dashboard links',
    description: 'Links that open the dashboard for a person, without a key.',
    operations: linkOperations,
  },
  { name: 'Project', description: 'The project, and who changed what in it.', operations: projectOperations },
  {
    name: 'Webhooks',
    description: 'Endpoints for events, the log of every delivery, and stats.',
    operations: { ...webhookOperations, ...deliveryOperations },
  },
  {
    name: 'Events',
    description: 'Events from your own sync engine, and those of documents.',
    operations: { ...eventOperations, ...eventTypeOperations, ...eventDeliveryOperations },
  },
  {
    name: 'Documents and sync',
    description: 'Documents, sync cycles and connections.',
    operations: documentOperations,
  },
];

const descriptionOf = (server: string) => `Authentication and webhooks for document synchronization.

Send \`Authorization: Bearer <key or token>\`, and bodies as JSON. An error is a problem document (RFC 9457) with a stable
\`code\`. Every code is explained under [errors](${server}/docs/errors). To read the next page of a list, pass \`next_cursor\` as \`cursor\`.
An \`Idempotency-Key\` makes it safe to repeat a request that creates or changes something. Browsers can call everything that a
scoped token can, from any origin (CORS). HEAD works wherever GET does.`;

/**
 * The interface as an OpenAPI 3.1 document. `server` is the address that paths are relative to. Responses and events are open, so
 * that a new member breaks no generated client. Requests are closed, because the service rejects unknown members.
 */
export function openApiDocument(server: string) {
  const paths: Record<string, Record<string, unknown>> = {};
  for (const { name, operations } of GROUPS) {
    for (const [id, operation] of Object.entries(operations) as [OperationId, Operation][]) {
      const described = describe(id, operation, name);
      paths[operation.path] = { ...paths[operation.path], [operation.method.toLowerCase()]: described };
    }
  }
  return {
    openapi: '3.1.0',
    info: {
      title: 'Document Sync Service',
      version: VERSION,
      description: descriptionOf(server),
      contact: { name: 'Troubleshooting', url: `${server}/docs/troubleshooting` },
      license: { name: 'MIT', identifier: 'MIT' },
    },
    servers: [{ url: server }],
    tags: GROUPS.map(({ name, description }) => ({ name, description })),
    paths,
    webhooks: Object.fromEntries(EVENT_TYPES.map((type) => [type, { post: delivered(type) }])),
    components: {
      schemas: namedSchemas(),
      responses: problemResponses(),
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
  DashboardSession: {
    type: 'http',
    scheme: 'bearer',
    bearerFormat: 'JWT',
    description:
      'The session that a dashboard link opens, with the role `viewer` or `editor`. Only the dashboard sends it.',
  },
};

const sizeText = (bytes: number): string =>
  bytes < MAX_BODY_BYTES ? `${bytes / KIB} KiB` : `${bytes / KIB / KIB} MiB`;

function describe(id: OperationId, operation: Operation, tag: string) {
  const { summary, callers, body, publishes } = operation;
  const isPublic = callers === 'anyone';
  return {
    operationId: id,
    summary,
    description: [
      isPublic ? 'Requires no credential.' : `Requires ${callersText(operation)}.`,
      ...(publishes
        ? [`${publishes === true ? 'Returns' : `With \`${publishes}\`, returns`} 429 over the limit of deliveries.`]
        : []),
    ].join(' '),
    tags: [tag],
    security: isPublic ? [] : securityOf(operation, callers),
    parameters: parametersOf(operation),
    ...(body && {
      requestBody: {
        // A body whose members are all optional can be omitted.
        required: !v.is(body, {}),
        description: `At most ${sizeText(operation.maxBodyBytes)}.`,
        content: { 'application/json': { schema: jsonSchemaOf(body), example: EXAMPLES[id].body } },
      },
    }),
    responses: responsesOf(id, operation),
  };
}

/** The alternative credentials of an operation. */
function securityOf({ permissions }: Operation, callers: readonly CallerType[]) {
  const roles = callers.filter(isRole);
  return [
    { ApiKey: callers.filter((caller) => caller !== 'token' && !isRole(caller)) },
    ...(callers.includes('token') ? [{ ScopedToken: permissions }] : []),
    ...(roles.length > 0 ? [{ DashboardSession: roles }] : []),
  ];
}

/** The parameters of an operation: those in its path, its query, its headers. */
function parametersOf({ callers, parameters: ofPath, query, headers, idempotencyKey }: Operation): Parameter[] {
  const parameters: Parameter[] = Object.entries(ofPath).map(([name, { schema, description, example }]) => ({
    name,
    in: 'path',
    required: true,
    description,
    schema: jsonSchemaOf(schema),
    example,
  }));
  const ofQuery = {
    ...query,
    ...(callers !== 'anyone' && chosenEnvironment),
  };
  for (const [name, schema] of Object.entries(ofQuery)) {
    parameters.push(parameter('query', name, schema as v.GenericSchema));
  }
  for (const [name, schema] of Object.entries({ ...headers, ...(idempotencyKey && idempotencyHeader) })) {
    parameters.push(parameter('header', name, schema as v.GenericSchema));
  }
  return parameters;
}

export interface Parameter {
  name: string;
  in: 'path' | 'query' | 'header';
  required: boolean;
  description: string;
  schema: JsonSchema;
  example?: string;
}

function parameter(place: 'query' | 'header', name: string, valibotSchema: v.GenericSchema): Parameter {
  const { description = '', ...schema } = jsonSchemaOf(valibotSchema);
  return { name, in: place, required: false, description: String(description), schema };
}
