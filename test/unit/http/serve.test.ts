import { describe, expect, it } from 'vitest';
import { operations } from '../../../lib/api/operations.ts';
import type { Backend } from '../../../lib/aws/backend.ts';
import { ConflictError, UnavailableError } from '../../../lib/errors.ts';
import { CORS_HEADERS } from '../../../lib/http/headers.ts';
import type { OperationResponse, OperationTable } from '../../../lib/http/operation.ts';
import { OUTCOME_UNKNOWN, PROBLEM_TYPE, Problem, type ProblemCode } from '../../../lib/http/problems.ts';
import type { Request } from '../../../lib/http/request.ts';
import { type Handlers, type IdempotencyWrites, serve } from '../../../lib/http/serve.ts';
import { webhookParameter } from '../../../lib/webhooks/webhook.ts';
import { memoryBackend } from '../../support/memory-table.ts';
import type { Command } from '../../support/runtime.ts';
import { type Given, keyOf, posting, proxyEvent } from './builders.ts';

const now = Date.parse('2026-01-31T12:00:00.000Z');

/** The step of an idempotent request that a command carries out, if any. */
function stepOf({ name, input }: Command): string | undefined {
  if (name === 'Put') return input.Item.sk.includes('#PART#') ? undefined : 'begin';
  const items: { Delete?: object; Update?: Command['input'] }[] = input.TransactItems ?? [{ Update: input }];
  if (items.some(({ Delete }) => Delete)) return 'release';
  const { Update } = items.find((item) => item.Update) ?? {};
  const text = String(Update?.UpdateExpression);
  if (text.includes('#response')) return 'finish';
  return text.includes('#runningUntil') ? 'abandon' : undefined;
}

/** A table in memory, which notes the steps of idempotent requests. One of them can fail. */
function memory(fails?: string) {
  const done: string[] = [];
  const backend = memoryBackend({ clock: () => now }, (command) => {
    const step = stepOf(command);
    if (step) done.push(step);
    if (step !== undefined && fails === step) throw new Error(`${step}: throttled`);
    return undefined;
  });
  return { done, backend };
}

type TinyHandler = (
  request: Request,
  writes: IdempotencyWrites,
  identity: { id: string; startedAt: number } | undefined,
) => OperationResponse | Problem | Promise<OperationResponse | Problem>;

/** A server for some operations. It records logs and failure reports. */
function server(tiny: Record<string, TinyHandler>, { backend = memory().backend }: { backend?: Backend } = {}) {
  const logged: unknown[] = [];
  const failures: unknown[][] = [];
  const reached: Request[] = [];
  const handlers = Object.entries(tiny).map(([id, handle]) => [
    id,
    async (...args: Parameters<TinyHandler>) => {
      reached.push(args[0]);
      return handle(...args);
    },
  ]);
  const noted: Backend = {
    ...backend,
    log: { ...backend.log, info: (...args) => void logged.push(args) },
    reportFailure: (...args) => void failures.push(args),
  };
  const table = Object.fromEntries(Object.entries<OperationTable[string]>(operations).filter(([id]) => id in tiny));
  const handle = serve(table, Object.fromEntries(handlers) as unknown as Handlers<typeof table>, noted);
  /** Returns the response and its parsed JSON body. */
  const call = async (given: Given = {}) => {
    const response = await handle(proxyEvent(given));
    return { ...response, json: response.body.startsWith('{') ? JSON.parse(response.body) : undefined };
  };
  return { call, logged, failures, reached };
}
const listing = (respond: TinyHandler = () => ({ body: { data: [], next_cursor: null } })) => ({ listKeys: respond });
const creation = (headers: Record<string, string> = {}, body: object = { type: 'live' }): Given =>
  posting(body, headers);
const KEYED = { 'Idempotency-Key': 'once' };
const throwing = (error: unknown) => () => {
  throw error;
};

it.each<[string, Given]>([
  ['an unknown path', { resource: '/v1/nothing' }],
  ['another method', { httpMethod: 'PATCH' }],
  ['an operation of another table', { resource: '/v1/webhooks' }],
  ['the name of an inherited member', { resource: 'constructor' }],
])('a route returns route_not_found: %s', async (_, given) => {
  const { call, failures, reached } = server(listing());
  const { statusCode, headers, json } = await call(given);
  expect([statusCode, json.code]).toEqual([404, 'route_not_found']);
  expect(headers).toMatchObject({ 'Content-Type': PROBLEM_TYPE, 'X-Request-Id': 'request-1' });
  expect([failures, reached]).toEqual([[], []]);
});

it('a caller uses no idempotency key without the permission', async () => {
  const { done, backend } = memory();
  const { call } = server({ createKey: () => ({}) }, { backend });
  const { json } = await call({ ...creation(KEYED), authorizer: keyOf('read') });
  expect(json.code).toBe('insufficient_permissions');
  expect(done).toEqual([]);
});

describe('a response', () => {
  it.each<[string, Given, boolean]>([
    ['to documents', { resource: '/v1/documents' }, true],
    ['to documents with a problem', { resource: '/v1/documents', queryStringParameters: { x: '1' } }, true],
    ['to documents without the permission', { resource: '/v1/sync', ...posting({}), authorizer: keyOf('live') }, true],
    ['to keys', {}, false],
    ['to an unknown route', { resource: '/v1/nothing' }, false],
  ])('%s is readable for other origins only if tokens can call it', async (_, given, isReadable) => {
    const respond = () => ({ body: { data: [] } });
    const { headers = {} } = await server({ listDocuments: respond, sync: respond, listKeys: respond }).call(given);
    const found = Object.entries(headers).filter(([name]) => name.startsWith('Access-Control'));
    expect(Object.fromEntries(found)).toEqual(isReadable ? CORS_HEADERS : {});
  });

  it.each<[string, TinyHandler | undefined, string[]]>([
    ['with a problem', () => new Problem('conflict', 'Wait.'), ['conflict']],
    ['after a failure', throwing(new Error('broken')), ['internal_error']],
    ['after a success', undefined, []],
  ])('is logged with the operation and the code unless it is a success: %s', async (_, handler, codes) => {
    const { call, logged } = server(listing(handler));
    await call();
    const line = { operation: 'listKeys', request_id: 'request-1' };
    expect(logged).toEqual(codes.map((code) => ['request.rejected', { ...line, code }]));
  });
});

const cause = new Error('AKIA-not-to-be-seen');
const conflict = new ConflictError('AKIA-not-to-be-seen');
const unavailable = new UnavailableError(cause);

it.each<[string, unknown, number, ProblemCode, isUnknown: boolean]>([
  ['write conflicts', conflict, 503, 'unavailable', false],
  ['a service that is not available', unavailable, 503, 'unavailable', true],
  ['anything else', cause, 500, 'internal_error', true],
  ['what is not even an error', 'AKIA-not-to-be-seen', 500, 'internal_error', true],
])('an internal failure returns its code, and is reported if its outcome is unknown: %s', async (_, error, status, code, isUnknown) => {
  const { call, failures } = server({ createKey: throwing(error) });
  const { statusCode, headers, body, json } = await call(creation());
  expect([statusCode, json.code]).toEqual([status, code]);
  expect(headers?.['Retry-After']).toBe(status === 503 ? '1' : undefined);
  expect(body).not.toContain('AKIA');
  const report = ['request.failed', { operation: 'createKey', request_id: 'request-1' }, error];
  expect(failures).toEqual(isUnknown ? [report] : []);
  expect(json.detail).toMatch(isUnknown ? OUTCOME_UNKNOWN : /Nothing was changed/);
});

describe('a request under an idempotency key', () => {
  const problem = () => new Problem('conflict', 'Wait.');
  const broken = throwing(new Error('broken'));
  const conflicting = throwing(new ConflictError());
  it.each<[string, TinyHandler, fails: string | undefined, string, number]>([
    ['is free again after a problem', problem, undefined, 'begin release', 409],
    ['is abandoned after a failure', broken, undefined, 'begin abandon', 500],
    ['is abandoned after write conflicts', conflicting, undefined, 'begin abandon', 503],
    ['fails for its own reason if it cannot be abandoned', conflicting, 'abandon', 'begin abandon', 503],
    ['is abandoned if it cannot be stored', () => ({ body: {} }), 'finish', 'begin finish abandon', 500],
    ['is abandoned if it cannot be freed', problem, 'release', 'begin release abandon', 500],
    ['is not carried out if its key cannot be stored', () => ({ body: {} }), 'begin', 'begin abandon', 500],
  ])('%s', async (_, respond, fails, effects, status) => {
    const { done, backend } = memory(fails);
    const { call, reached } = server({ createKey: respond }, { backend });
    expect((await call(creation(KEYED))).statusCode).toBe(status);
    expect(done.join(' ')).toBe(effects);
    expect(reached).toHaveLength(fails === 'begin' ? 0 : 1);
  });

  const rotation: Given = {
    ...posting({}, KEYED),
    resource: '/v1/webhooks/{id}/rotate-secret',
    pathParameters: { id: webhookParameter.example },
  };
  it.each<[string, Given, number]>([
    ['the environment by name', { queryStringParameters: { environment: 'live' } }, 200],
    ['another key of the project', { authorizer: { ...keyOf('admin'), key_id: 'key_2' } }, 200],
    ['other headers', { headers: { ...rotation.headers, 'X-Other': '1' } }, 200],
    ['other white space', { body: '{ }' }, 200],
    ['another body', { body: '{"secret":"another secret of a webhook"}' }, 422],
    ['another path', { pathParameters: { id: webhookParameter.example.replace('01', '02') } }, 422],
    ['another operation', { resource: '/v1/webhooks/{id}/test' }, 422],
  ])('is recognized by its operation, path and body: %s', async (_, difference, status) => {
    const handler = () => ({ status: 200, body: {} });
    const { call, reached } = server({ rotateSecret: handler, testWebhook: handler });
    await call(rotation);
    const { statusCode, json } = await call({ ...rotation, ...difference });
    expect([statusCode, json.code]).toEqual([status, status === 422 ? 'idempotency_key_reused' : undefined]);
    expect(reached).toHaveLength(1);
  });

  it.each<[string, Given, Record<string, TinyHandler>]>([
    ['without a key', creation(), { createKey: (_, writes, identity) => ({ body: { id: [writes({}), identity] } }) }],
    [
      'for an operation that creates nothing',
      { headers: KEYED },
      listing((_, writes, identity) => ({ body: { id: [writes({}), identity] } })),
    ],
  ])('%s is not stored', async (_, given, handlers) => {
    const { done, backend } = memory();
    const { json } = await server(handlers, { backend }).call(given);
    expect(json.id).toEqual([[], null]);
    expect(done).toEqual([]);
  });
});
