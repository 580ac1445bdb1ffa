import { isDeepStrictEqual } from 'node:util';
import { createConfig, lintFromString } from '@redocly/openapi-core';
import * as v from 'valibot';
import { describe, expect, it } from 'vitest';
import { EXAMPLES } from '../../../lib/api/openapi/examples.ts';
import { openApiDocument } from '../../../lib/api/openapi/openapi-document.ts';
import { eventTypes } from '../../../lib/api/openapi/openapi-events.ts';
import { schemaNameOf } from '../../../lib/api/openapi/schemas.ts';
import { allOperations, apiOperations, operations } from '../../../lib/api/operations.ts';
import { routeAt } from '../../../lib/api/routes.ts';
import { EVENT_TYPES } from '../../../lib/events/types.ts';
import { CORS_EXPOSED } from '../../../lib/http/headers.ts';
import { PROBLEMS } from '../../../lib/http/problems.ts';
import { allowsCrossOrigin, type CallerType, isRole } from '../../../lib/http/route.ts';
import { TokenVerification } from '../../../lib/keys/token-introspection.ts';
import { openApi } from '../../support/openapi.ts';

const pathParameters = [...new Set(apiOperations.flatMap(({ parameters }) => Object.values(parameters)))];
it.each(pathParameters)('an id in a path is rejected before a read if no $resource has it', ({ schema, example }) => {
  expect(v.is(schema, example)).toBe(true);
  for (const id of ['', 'a'.repeat(1500), `${example}\0`, ` ${example}`, '__proto__\n', '💩'])
    expect(v.is(schema, id), id).toBe(false);
});

it('a page of another origin may read every header of the operations that it can call', () => {
  const lowered = (names: readonly string[]) => names.map((name) => name.toLowerCase());
  for (const operation of allOperations.filter(allowsCrossOrigin)) {
    expect(lowered(CORS_EXPOSED), operation.path).toEqual(expect.arrayContaining(lowered(operation.responseHeaders)));
  }
});

it('a client has one type for the same data of an event and of a publisher', () => {
  const { schemas } = openApi.components as { schemas: Record<string, object> };
  const data = Object.entries(schemas).filter(([name]) => name.endsWith('Data'));
  for (const [name, schema] of data)
    expect(data.find(([, other]) => isDeepStrictEqual(other, schema))?.[0], name).toBe(name);
});

it('an operation that publishes only with a list has that list in its body', () => {
  for (const { publishes, body, path } of apiOperations)
    if (typeof publishes === 'string')
      expect((body as unknown as { entries: object }).entries, path).toHaveProperty(publishes);
});

type Schema = {
  $ref?: string;
  type?: string | string[];
  anyOf?: Schema[];
  enum?: unknown[];
  maxLength?: number;
  maxItems?: number;
  properties?: Record<string, Schema>;
  items?: Schema;
  required?: string[];
  description?: string;
};
const operationOf = (method: string, path: string) =>
  openApi.paths[path]?.[method.toLowerCase()] as {
    operationId: string;
    security: object[];
    requestBody?: { required: boolean; content: { 'application/json': { schema: Schema } } };
    responses: Record<string, { $ref?: string; description: string }>;
  };

/** Every object in a value, with its place. */
const objectsIn = (value: unknown, place = ''): [place: string, each: object][] =>
  typeof value === 'object' && value !== null
    ? [[place, value], ...Object.entries(value).flatMap(([name, each]) => objectsIn(each, `${place}/${name}`))]
    : [];

/** The bytes of the longest ASCII value of a schema. Open objects, and texts without a limit, count as empty. */
function largest(schema: Schema): number {
  const { $ref, anyOf = [], properties = {}, items, maxItems = 0, maxLength = 0 } = schema;
  if ($ref) return largest(openApi.components.schemas[$ref.split('/').at(-1) ?? ''] as Schema);
  const sizes = Object.entries(properties).map(([name, each]) => name.length + 4 + largest(each));
  const members = sizes.reduce((sum, size) => sum + size, 2);
  const entries = items ? 2 + maxItems * (1 + largest(items)) : 0;
  const longest = Math.max(0, ...(schema.enum ?? []).map((each) => JSON.stringify(each).length));
  return Math.max(maxLength + 2, members, entries, longest, ...anyOf.map(largest));
}

describe('the published document', () => {
  const published = openApiDocument('https://api.example.com');
  const isClosed = (value: unknown) => JSON.stringify(value).includes('"additionalProperties":false');

  it('accepts new members in every response and event, and no unknown member in a request', () => {
    const { Webhook, WebhookPage, Event, DocumentChanged, Problem, CreateWebhook, PublishEvents } =
      published.components.schemas;
    for (const schema of [Webhook, WebhookPage, Event, DocumentChanged, Problem]) expect(isClosed(schema)).toBe(false);
    for (const schema of [CreateWebhook, PublishEvents]) expect(isClosed(schema)).toBe(true);
    expect(isClosed(published.webhooks)).toBe(false);
    expect(isClosed(eventTypes())).toBe(false);
    for (const path of Object.values(published.paths))
      for (const { responses } of Object.values(path) as { responses: object }[])
        expect(isClosed(responses)).toBe(false);
  });

  it('requires every member of a response, except those that can be absent', () => {
    const open = objectsIn(published.components.schemas).filter(
      ([place, each]) => !('additionalProperties' in each) && !place.startsWith('/Publish'), // data in requests
    );
    const optional = open.flatMap(([place, { properties = {}, required = [] }]: [string, Schema]) =>
      Object.keys(properties).flatMap((name) => (required.includes(name) ? [] : [`${place.split('/')[1]}.${name}`])),
    );
    const events = [...EVENT_TYPES.map(schemaNameOf), 'EventTypeDescription'];
    const ofEvents = events.flatMap((name) => [`${name}.occurred_at`, `${name}.outcome`]);
    const ofTokens = Object.keys(TokenVerification.entries).filter((name) => name !== 'active');
    expect(optional.sort()).toEqual(
      [
        ...[...ofEvents, 'DocumentChangedData.delta'],
        ...['ConnectionLostData.document_key', 'ConnectionLostData.user'],
        ...['patterns', 'pushed', 'pulled', 'conflicts'].map((name) => `SyncCompletedData.${name}`),
        ...['Conflict.value', 'Conflict.value', 'Problem.errors', 'PushResult.code', 'PushResult.detail'],
        ...ofTokens.map((name) => `TokenVerification.${name}`),
      ].sort(),
    );
  });

  it('differs from the strict document in nothing else', () => {
    const withoutClosing = (value: unknown) => JSON.stringify(value).replaceAll(/,?"additionalProperties":false/g, '');
    expect(withoutClosing(published)).toBe(withoutClosing(openApi));
  });
});

describe('the OpenAPI document', () => {
  it('has no warnings by the recommended rules of Redocly', async () => {
    const config = await createConfig({
      extends: ['recommended-strict'],
      rules: {
        'no-server-example.com': 'off', // only in tests, because the function sets the server
        'operation-4xx-response': 'error',
        'security-defined': 'error',
        'no-invalid-media-type-examples': 'error',
        'no-invalid-schema-examples': 'error',
        'operation-operationId': 'error',
        'tag-description': 'error',
      },
    });
    const problems = await lintFromString({ source: JSON.stringify(openApi), config });
    expect(problems.map(({ message, location }) => `${location[0]?.pointer}: ${message}`)).toEqual([]);
  });

  it('lets a request omit its body exactly if all members of the body are optional', () => {
    const optional = apiOperations
      .map(({ method, path }) => operationOf(method, path))
      .filter(({ requestBody }) => requestBody && !requestBody.required);
    const expected = ['changeProject', 'changeWebhook', 'recover', 'rotateKey', 'rotateSecret', 'testWebhook'];
    expect(optional.map(({ operationId }) => operationId).sort()).toEqual(expected);
  });

  it('accepts a body whose members have their greatest lengths', () => {
    const tooLong = apiOperations.filter(({ method, path, maxBodyBytes }) => {
      const schema = operationOf(method, path).requestBody?.content['application/json'].schema;
      return schema && largest(schema) > maxBodyBytes;
    });
    expect(tooLong.map(({ path }) => path)).toEqual(['/v1/tokens']); // such a token would exceed its own limit of 2,048 bytes
  });

  it('has the callers whom the authorizer admits', () => {
    for (const { method, path, callers, permissions } of apiOperations)
      expect(routeAt(method, path)?.[1], path).toMatchObject({ callers, permissions });
  });

  it('contains every operation except web pages, with its callers', () => {
    for (const { method, path, callers, permissions } of apiOperations) {
      const { security } = operationOf(method, path);
      const ofKey = (caller: CallerType) => caller !== 'token' && !isRole(caller);
      const ofCallers = callers === 'anyone' ? [] : [{ ApiKey: callers.filter(ofKey) }];
      const roles = callers === 'anyone' ? [] : callers.filter(isRole);
      const ofLinks = roles.length > 0 ? [{ DashboardSession: roles }] : [];
      const ofTokens = callers.includes('token') ? [{ ScopedToken: permissions }] : [];
      // The entries are alternatives. The schemes of one entry are needed together (OpenAPI 3.1, "Security Requirement Object").
      expect(security, path).toEqual([...ofCallers, ...ofTokens, ...ofLinks]);
    }
    const methods = Object.values(openApi.paths).flatMap((each) => Object.keys(each));
    expect(methods).toHaveLength(apiOperations.length);
  });

  // Redocly compares them with their schemas.
  it.each(Object.entries(operations))('has an example of every body of %s', (id, { responses, ...operation }) => {
    const { body, response } = EXAMPLES[id as keyof typeof EXAMPLES];
    expect(body !== undefined).toBe('body' in operation);
    if (operation.function !== 'dashboard') expect(response !== undefined).toBe(Object.values(responses)[0] !== null);
  });

  it('contains every possible error code of each operation, with an example', () => {
    const named = new Set(
      apiOperations.flatMap(({ method, path }) =>
        Object.values(operationOf(method, path).responses).flatMap(({ $ref, description }) => {
          const codes = $ref ? [...description.matchAll(/`(\w+)`/g)].map(([, code = '']) => code) : [];
          const { content } = openApi.components.responses[$ref?.split('/').at(-1) ?? ''] ?? {};
          for (const code of codes) expect(content?.['application/problem+json'].examples).toHaveProperty(code);
          return codes;
        }),
      ),
    );
    const { method_not_allowed: _, route_not_found: __, ...ofOperations } = PROBLEMS;
    expect([...named].sort()).toEqual(Object.keys(ofOperations).sort());
    expect(Object.keys(openApi.components.examples).sort()).toEqual(Object.keys(ofOperations).sort());
  });

  it('describes the delivery of all six event types with an example', () => {
    expect(Object.keys(openApi.webhooks)).toEqual(EVENT_TYPES);
    for (const type of EVENT_TYPES)
      expect(openApi.webhooks[type]?.post.requestBody.content['application/json']).toMatchObject({ example: { type } });
  });

  it('describes every member', () => {
    const silent: string[] = [];
    const look = (name: string, { properties = {}, items }: Schema) => {
      if (items) look(`${name}[]`, items);
      for (const [field, schema] of Object.entries(properties)) {
        const isPublished = name.startsWith('PublishEvent');
        if (!schema.description && !schema.$ref && !isPublished) silent.push(`${name}.${field}`);
        look(`${name}.${field}`, schema);
      }
    };
    for (const [name, schema] of Object.entries(openApi.components.schemas)) look(name, schema as Schema);
    expect(silent).toEqual([]);
  });

  it('gives no schema a name that generators give to a part of an operation', () => {
    const pascal = (id: string) => id.charAt(0).toUpperCase() + id.slice(1);
    const suffixes = 'Request|Requests|Response|Responses|Params|Body|JSONBody|JSONRequestBody|Data|Error|Errors'.split(
      '|',
    );
    const operationIds = Object.values(openApi.paths).flatMap((each) =>
      Object.values(each).map((of) => (of as ReturnType<typeof operationOf>).operationId),
    );
    const taken = operationIds.flatMap((id) => suffixes.map((suffix) => pascal(id) + suffix));
    expect(taken).toContain('SyncResponse'); // oapi-codegen
    const names = Object.keys(openApi.components.schemas).map((name) => name.toLowerCase());
    expect(new Set(names).size).toBe(names.length); // types can be files, and some file systems ignore the case
    expect(taken.filter((name) => names.includes(name.toLowerCase()))).toEqual([]);
  });

  it('gives every shared schema one name', () => {
    const { schemas } = openApi.components as { schemas: Record<string, Schema & { enum?: string[] }> };
    for (const name of ['Event', 'EventType', 'Problem', 'WebhookPage', 'DeliveryPage', 'PublishDocumentChanged'])
      expect(schemas).toHaveProperty(name);
    const text = JSON.stringify(openApi.paths);
    for (const { enum: words } of Object.values(schemas)) if (words) expect(text).not.toContain(JSON.stringify(words));
    for (const operation of Object.values(openApi.paths).flatMap((each) => Object.values(each)))
      for (const [status, { $ref }] of Object.entries((operation as ReturnType<typeof operationOf>).responses))
        expect($ref?.startsWith('#/components/responses/Problem') ?? false).toBe(Number(status) >= 400);
  });

  const SCHEMA = /\/((properties|patternProperties)\/[^/]+|items|not)$/;
  const scanned = objectsIn([openApi.paths, openApi.components.schemas, eventTypes()]);
  it.each<[string, (each: Schema, place: string) => boolean]>([
    ['constant without a type, because generators warn about it', (each) => 'const' in each && !('type' in each)],
    ['default, because generators would require the member', (each) => 'default' in each],
    [
      'boolean schema, because some generators cannot read it',
      (each, place) =>
        Object.entries(each).some(([name, value]) => typeof value === 'boolean' && SCHEMA.test(`${place}/${name}`)),
    ],
    ['number except integers, because generators lose revisions', ({ type }) => [type].flat().includes('number')],
    ['members next to alternatives, because generators lose them', (each) => 'oneOf' in each && 'properties' in each],
  ])('has no %s', (_, isWrong) => {
    expect(scanned.filter(([place, each]) => isWrong(each, place))).toEqual([]);
  });
});
