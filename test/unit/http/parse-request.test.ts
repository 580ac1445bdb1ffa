import * as v from 'valibot';
import { describe, expect, it } from 'vitest';
import { MAX_BODY_BYTES, type Operation, operation } from '../../../lib/http/operation.ts';
import { notFound, Problem } from '../../../lib/http/problems.ts';
import { parseRequest, type Request } from '../../../lib/http/request.ts';
import { alternatives, integer, integerText, text } from '../../../lib/schema.ts';
import { type Given, keyOf, posting, proxyEvent, tokenOf } from './builders.ts';

/** An operation with query, headers, body and parameters. */
const operationWith = (overrides: Partial<Operation> = {}): Operation => ({
  ...operation({
    method: 'POST',
    path: '/v1/things/{id}',
    function: 'keys',
    summary: 'Do a thing',
    callers: ['admin', 'live', 'test', 'read', 'token'],
    permissions: [],
    responses: { 200: null },
    maxBodyBytes: MAX_BODY_BYTES,
  }),
  parameters: {
    id: { resource: 'thing', schema: v.pipe(v.string(), v.regex(/^[a-z:@]+$/)), description: '', example: '' },
  },
  query: { limit: v.optional(integerText(1, 100)) },
  headers: { 'X-Node-Id': v.optional(text(1, 8)) },
  body: v.looseObject({ name: v.optional(text(1, 10)), size: v.optional(integer(1, 9)) }),
  ...overrides,
});
const parse = (given: Given = {}, overrides: Partial<Operation> = {}): Request | Problem =>
  parseRequest(proxyEvent({ pathParameters: { id: 'a' }, ...given }), operationWith(overrides));

/** Returns the request, which must be valid. */
function requestOf(...given: Parameters<typeof parse>): Request {
  const request = parse(...given);
  if (request instanceof Problem) throw new Error(`${request.code}: ${JSON.stringify(request.errors)}`);
  return request;
}
/** Returns the code of the problem, or the parsed body. */
function outcomeOf(...given: Parameters<typeof parse>) {
  const request = parse(...given);
  return request instanceof Problem ? request.code : request.body;
}
const base64 = (...parts: (string | number[])[]) => ({
  ...posting(Buffer.concat(parts.map((part) => Buffer.from(part as string))).toString('base64')),
  isBase64Encoded: true,
});

describe('a body', () => {
  const json = { name: 'a' };
  const brackets = { x: '\\', y: '['.repeat(201), z: `"${'['.repeat(201)}` };

  it.each([
    ['application/json', json],
    ['application/json; charset=utf-8', json],
    ['application/json ; charset=utf-8', json],
    ['Application/JSON', json],
    ['application/jsonp', 'unsupported_media_type'],
    ['application/json, text/plain', 'unsupported_media_type'],
    ['text/plain; application/json', 'unsupported_media_type'],
    ['', 'unsupported_media_type'],
    [undefined, 'unsupported_media_type'],
  ])('with the Content-Type "%s" has the outcome %j', (type, outcome) => {
    for (const name of ['content-type', 'CONTENT-TYPE', 'Content-Type'])
      expect(outcomeOf({ ...posting(json), headers: type === undefined ? {} : { [name]: type } })).toEqual(outcome);
  });

  it.each<[string, Given, unknown]>([
    ['is empty if there is none', { httpMethod: 'POST', body: null }, {}],
    ['is empty if it is the empty text, whatever its type', { httpMethod: 'POST', body: '' }, {}],
    ['is ignored for a GET', { ...posting('not JSON'), httpMethod: 'GET' }, {}],
    ['is ignored for a HEAD', { ...posting('not JSON'), httpMethod: 'HEAD' }, {}],
    ['can have any size for a GET', { ...posting('x'.repeat(MAX_BODY_BYTES + 1)), httpMethod: 'GET' }, {}],
    ['can be invalid UTF-8 for a GET', { ...base64([0xff]), httpMethod: 'GET' }, {}],
    ['is read for a DELETE', { ...posting('not JSON'), httpMethod: 'DELETE' }, 'invalid_json'],
    ['comes in Base64 too', base64('{"name":"ä€😀"}'), { name: 'ä€😀' }],
    ['is refused if bytes are no UTF-8', base64('{"name":"', [0xff], '"}'), 'invalid_json'],
    ['is refused if it ends in the middle of a character', base64('{"name":"a"}', [0xc3]), 'invalid_json'],
    ['is refused with a byte order mark (RFC 8259 §8.1)', base64([0xef, 0xbb, 0xbf], '{}'), 'invalid_json'],
    ['may be nested 200 deep', posting(`{"x":${'['.repeat(199)}${']'.repeat(199)}}`), expect.any(Object)],
    ['may have any brackets in texts', posting(brackets), brackets],
  ])('%s', (_, given, outcome) => {
    expect(outcomeOf(given)).toEqual(outcome);
  });

  it.each(['[]', 'null', '"name"', '12345678901234567890'])('must be an object, not %s', (body) => {
    const errors = [{ field: 'body', detail: 'must be an object' }];
    expect(parse(posting(body))).toMatchObject({ code: 'invalid_request', errors });
    expect(parse(posting(body), { body: undefined })).toMatchObject({ code: 'invalid_request', errors });
  });

  it.each<[string, number, string, unknown]>([
    ['may have as many bytes as its operation says', MAX_BODY_BYTES, 'x', expect.any(Object)],
    ['may not have a byte more', MAX_BODY_BYTES + 1, 'x', 'payload_too_large'],
    ['is measured in bytes, not characters', MAX_BODY_BYTES / 2, 'ä', 'payload_too_large'],
    ['is measured in UTF-8, not UTF-16', MAX_BODY_BYTES / 4, '😀', 'payload_too_large'],
  ])('%s', (_, length, char, outcome) => {
    const frame = '{"x":""}'.length;
    const isFull = char === 'x';
    const sized = posting(`{"x":"${char.repeat(isFull ? length - frame : length)}"}`);
    expect(outcomeOf(sized)).toEqual(outcome);
    const encoded = { ...sized, body: Buffer.from(sized.body).toString('base64'), isBase64Encoded: true };
    expect(outcomeOf(encoded)).toEqual(outcome);
  });

  it('is rejected before parsing, with the limit of its operation, when it is too large', () => {
    const problem = parse({ ...posting('x'.repeat(101)), headers: {} }, { maxBodyBytes: 100 });
    expect(problem).toMatchObject({ code: 'payload_too_large', detail: 'Send a body of at most 100 bytes.' });
  });

  it.each([
    ['{"name":1,}', 'position 10'],
    ['{"name" "hunter2"}', 'position 8'],
    ['{} {}', 'position 3'],
    ['{"name":"hunter2', 'ends too early'],
    ['{"name":', 'ends too early'],
    ['{"name":hunter2}', 'is not valid JSON'],
    ['position 4111', 'is not valid JSON'],
    ['\ufeff{"name":"hunter2"}', 'starts with a byte order mark'],
    [`{"x":${'['.repeat(200)}`, 'nested deeper than 200 levels'],
  ])('has a problem with the position of the error, and without its content, which can be secret: %s', (body, where) => {
    const problem = parse(posting(body));
    expect(problem).toMatchObject({ code: 'invalid_json', detail: expect.stringContaining(where) });
    expect(problem).toMatchObject({ detail: expect.not.stringContaining('hunter') });
  });
});

describe('a request that is not valid', () => {
  const violationsOf = (...given: Parameters<typeof parse>) => {
    const problem = parse(...given);
    return problem instanceof Problem ? problem.errors : undefined;
  };
  const unknown = 'is not a known field';

  const query = (name: string, value: string) => ({ queryStringParameters: Object.fromEntries([[name, value]]) });

  it.each<[string, Given, string, string]>([
    ['a query parameter of every object', query('constructor', '1'), 'constructor', unknown],
    ['__proto__', query('__proto__', '1'), '__proto__', unknown],
    ['an empty name', query('', '1'), '""', unknown],
    ['a query parameter in another case', query('Limit', '1'), 'Limit', unknown],
    ['a long header', { headers: { 'x-node-id': '123456789' } }, 'X-Node-Id', 'must have at most 8 characters'],
    ['an empty header', { headers: { 'X-NODE-ID': '' } }, 'X-Node-Id', 'must not be empty'],
  ])('names %s', (_, given, field, detail) => {
    expect(violationsOf(given)).toEqual([{ field, detail }]);
  });

  const wrongThroughout: Given = {
    ...posting({ name: 1, size: 10 }, { 'X-Node-Id': '', 'Idempotency-Key': 'ä' }),
    queryStringParameters: { limit: '0', environment: 'staging', page: '2' },
  };
  const fields = ['limit', 'environment', 'page', 'X-Node-Id', 'Idempotency-Key', 'name', 'size'];

  it('returns the violations of query, headers and body together', () => {
    const found = violationsOf(wrongThroughout, { idempotencyKey: true });
    expect(found?.map(({ field }) => field).sort()).toEqual([...fields].sort());
  });

  it('is invalid for any resource and caller', () => {
    const given = { ...wrongThroughout, authorizer: keyOf('test'), pathParameters: { id: '1' } };
    expect(outcomeOf(given)).toBe('invalid_request');
  });

  const several = (name: string, ...values: string[]) => ({
    multiValueQueryStringParameters: Object.fromEntries([[name, values]]),
  });
  const lines = (...headers: [name: string, values: string[]][]) => ({
    ...posting({}),
    multiValueHeaders: Object.fromEntries(headers),
  });
  const repeated = (field: string) => [{ field, detail: 'is given more than once' }];

  it.each<[string, Given, string]>([
    ['a query parameter', several('limit', '1', '2'), 'limit'],
    ['a query parameter with the same value', several('limit', '1', '1'), 'limit'],
    ['an invalid query parameter', several('limit', '1', 'x'), 'limit'],
    ['the environment', several('environment', 'live', 'sandbox'), 'environment'],
    ['an unknown query parameter', several('page', '1', '2'), 'page'],
    ['__proto__', several('__proto__', '1', '2'), '__proto__'],
    ['a header', lines(['X-Node-Id', ['a', 'a']]), 'X-Node-Id'],
    ['a header in another case', lines(['x-node-id', ['a']], ['X-Node-Id', ['b']]), 'X-Node-Id'],
    ['the Idempotency-Key', lines(['idempotency-key', ['a', 'a']]), 'Idempotency-Key'],
    ['the Content-Type', lines(['content-type', ['application/json', 'application/json']]), 'Content-Type'],
  ])('names %s that is given more than once', (_, given, field) => {
    expect(violationsOf(given, { idempotencyKey: true })).toEqual(repeated(field));
  });

  it('can have several lines of a header that its operation does not use, as proxies add them', () => {
    const given = lines(['X-Forwarded-For', ['a', 'b']], ['Idempotency-Key', ['a', 'b']]);
    expect(violationsOf(given)).toBeUndefined();
    const content = { httpMethod: 'GET', multiValueHeaders: { 'Content-Type': ['a', 'b'] } };
    expect(violationsOf(content)).toBeUndefined();
  });

  it('can have several values of a parameter whose schema accepts a list', () => {
    const type = v.optional(alternatives(['a', 'b', 'c']));
    const queryWith = (...values: string[]) => parse(several('type', ...values), { query: { type } });
    expect(queryWith('b')).toMatchObject({ query: { type: ['b'] } });
    expect(queryWith('b', 'a', 'b')).toMatchObject({ query: { type: ['a', 'b'] } });
    expect(queryWith('b', 'd')).toMatchObject({ errors: [{ field: 'type', detail: 'must be one of a, b, c' }] });
  });

  it('can have any Idempotency-Key if its operation does not use it', () => {
    const outcomes = (length: number) =>
      [true, false].map((idempotencyKey) =>
        outcomeOf({ httpMethod: 'POST', headers: { 'Idempotency-Key': 'x'.repeat(length) } }, { idempotencyKey }),
      );
    for (const length of [0, 256]) expect(outcomes(length)).toEqual(['invalid_request', {}]);
    expect(outcomes(255)).toEqual([{}, {}]);
  });
});

it.each([
  ['a live key', 'live', keyOf('live')],
  ['a test key', 'sandbox', keyOf('test')],
  ['a read key', 'live', keyOf('read')],
  ['a token', 'live', tokenOf()],
  ['a sandbox token', 'sandbox', tokenOf({ environment: 'sandbox' })],
])('the environment of a caller with %s is always %s', (_, environment, authorizer) => {
  expect(parse({ authorizer })).toMatchObject({ space: { environment } });
  const parsed = (requested: string) => parse({ authorizer, queryStringParameters: { environment: requested } });
  expect(parsed(environment)).toMatchObject({ space: { environment } });
  expect(parsed(environment === 'live' ? 'sandbox' : 'live')).toMatchObject({
    code: 'insufficient_permissions',
    detail: expect.stringContaining(environment),
  });
});

it.each<[string, string | undefined, string | undefined]>([
  ['unchanged', 'a', 'a'],
  ['decoded', 'a%3Ab', 'a:b'],
  ['decoded already', 'a:b', 'a:b'],
  ['decoded once', 'a%253Ab', undefined],
  ['not decodable', 'a%', undefined],
  ['a different format', 'A1', undefined],
  ['empty', '', undefined],
  ['missing', undefined, undefined],
])('a path parameter returns a valid value or not_found: %s', (_, id, expected) => {
  const request = parse({ pathParameters: { id } });
  if (expected === undefined) expect(request).toEqual(notFound('thing'));
  else expect(request).toMatchObject({ path: { id: expected } });
});

describe('a request', () => {
  it('contains every line of If-Match and If-None-Match', () => {
    const multiValueHeaders = {
      'if-match': ['"1", "2"', '"3"'],
      'If-Match': ['"5"'],
      'If-None-Match': ['"4"', '*'],
      'X-Node-Id': ['a'],
    };
    const headers = Object.fromEntries(Object.entries(multiValueHeaders).map(([name, lines]) => [name, lines.at(-1)]));
    expect(requestOf({ headers, multiValueHeaders }).headers).toEqual({
      'if-match': '"1", "2", "3", "5"',
      'if-none-match': '"4", *',
      'x-node-id': 'a',
    });
  });

  it.each<[string, Record<string, string> | null]>([
    ['no authorizer', null],
    ['no project', { key_id: 'key_1', caller: 'admin' }],
    ['no key', { project_id: 'prj_1', caller: 'admin' }],
    ['no caller', { project_id: 'prj_1', key_id: 'key_1' }],
  ])('fails internally without a caller: %s', (_, authorizer) => {
    expect(() => parse({ authorizer })).toThrow('The authorizer passed no caller on');
  });
});
