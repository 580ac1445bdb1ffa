import * as v from 'valibot';
import { describe, expect, it } from 'vitest';
import { type Operation, operation, page as pageQuery } from '../../lib/api/operation.ts';
import { Problem } from '../../lib/api/problems.ts';
import { openCursor, sealCursor } from '../../lib/http/cursor.ts';
import { page } from '../../lib/http/pagination.ts';
import { parseRequest, type Request } from '../../lib/http/request.ts';
import { timestampInput } from '../../lib/schema.ts';
import { type Given, keyOf, proxyEvent } from './builders.ts';

describe('a cursor', () => {
  const sealed = sealCursor('secret', 'scope', 'evt_1');
  const [position = '', mac = ''] = sealed.split('.');
  const base64url = (text: string) => Buffer.from(text).toString('base64url');

  it.each(['evt_1', '', 'ä€😀', 'a.b', '{"pk":"a#b"}', 'x'.repeat(2000)])('opens to its position: %j', (given) => {
    expect(openCursor('secret', 'scope', sealCursor('secret', 'scope', given))).toBe(given);
  });

  it('goes into a query string as it is', () => {
    expect(sealCursor('secret', 'scope', '~~~???ä€😀')).toMatch(/^[\w.-]+$/);
  });

  it.each<[string, string]>([
    ['nothing', ''],
    ['a dot', '.'],
    ['a position without its MAC', position],
    ['a position with an empty MAC', `${position}.`],
    ['a MAC without a position', `.${mac}`],
    ['another position', `${base64url('evt_2')}.${mac}`],
    ['the MAC of another position', `${position}.${sealCursor('secret', 'scope', 'evt_2').split('.')[1]}`],
    ['a MAC that is too short', `${position}.${mac.slice(0, -1)}`],
    ['a MAC that is too long', `${position}.${mac}A`],
    ['a MAC of as many characters but more bytes', `${position}.${mac.slice(0, -1)}ä`],
    ['another first character of the MAC', `${position}.${mac.startsWith('A') ? 'B' : 'A'}${mac.slice(1)}`],
    ['a third part', `${sealed}.x`],
    ['an empty third part', `${sealed}.`],
    ['padding', `${position}=.${mac}`],
    ['another spelling of its position', `${position.slice(0, -1)}${spare(position)}.${mac}`],
    ['stray characters that a decoder ignores', `${position} .${mac}`],
  ])('does not open with %s', (_, cursor) => {
    expect(cursor).not.toBe(sealed);
    expect(openCursor('secret', 'scope', cursor)).toBeNull();
  });

  it.each([
    ['secret', 'another scope'],
    ['secret', ''],
    ['another secret', 'scope'],
  ])('opens under its own secret and scope alone, not %s and %s', (secret, scope) => {
    expect(openCursor(secret, scope, sealed)).toBeNull();
  });
});

/** A last character that decodes to the same bytes: the bits of Base64 that are left over are not zero. */
function spare(encoded: string): string {
  const last = encoded.at(-1) ?? '';
  const other = String.fromCharCode(last.charCodeAt(0) + 1);
  const isSame = Buffer.from(encoded.slice(0, -1) + other, 'base64url').equals(Buffer.from(encoded, 'base64url'));
  if (!isSame) throw new Error(`${encoded} has no other spelling`);
  return other;
}

describe('a page of a list', () => {
  const operationWith = (overrides: Partial<Operation> = {}): Operation => ({
    ...operation({
      method: 'GET',
      path: '/v1/things',
      function: 'keys',
      summary: 'List things',
      callers: ['admin', 'live', 'test'],
      responses: { 200: null },
    }),
    query: { ...pageQuery, kind: v.optional(v.string()), since: v.optional(timestampInput) },
    ...overrides,
  });
  type PageRequest = Request<{ limit?: number; cursor?: string }>;
  function requestOf(query: Record<string, string> = {}, given: Given = {}, overrides: Partial<Operation> = {}) {
    const event = proxyEvent({ queryStringParameters: query, ...given });
    const request = parseRequest(event, operationWith(overrides));
    if (request instanceof Problem) throw new Error(request.detail);
    return request as PageRequest;
  }
  const secrets = { cursorSecret: async (projectId: string) => `secret of ${projectId}` };

  /** What a list was asked to load, and what it gave. */
  async function load(request: PageRequest, next?: string) {
    const asked: [limit: number, after: string | undefined][] = [];
    const result = await page(request, secrets, async (limit, after) => {
      asked.push([limit, after]);
      return { data: ['a', 'b'], next };
    });
    return { asked, result };
  }
  /** The cursor that a request gets with its page. */
  async function cursorFor(request: PageRequest, next = 'b'): Promise<string> {
    const { result } = await load(request, next);
    if (result instanceof Problem || result.body.next_cursor === null) throw new Error('There is no cursor');
    return result.body.next_cursor;
  }

  it('begins at the start, with 50 items unless told', async () => {
    expect((await load(requestOf())).asked).toEqual([[50, undefined]]);
    expect((await load(requestOf({ limit: '7' }))).asked).toEqual([[7, undefined]]);
  });

  it('that is the last has no cursor, and asks for no secret', async () => {
    const failing = { cursorSecret: () => Promise.reject(new Error('not asked for')) };
    const result = await page(requestOf(), failing, async () => ({ data: ['a'], next: undefined }));
    expect(result).toEqual({ body: { data: ['a'], next_cursor: null } });
  });

  it('goes on where the one before ended', async () => {
    const cursor = await cursorFor(requestOf(), 'position b');
    expect((await load(requestOf({ cursor }))).asked).toEqual([[50, 'position b']]);
  });

  it('has a cursor even if its position is the empty text', async () => {
    const cursor = await cursorFor(requestOf(), '');
    expect((await load(requestOf({ cursor }))).asked).toEqual([[50, '']]);
  });

  type Asked = Parameters<typeof requestOf>;
  it.each<[string, Asked, Asked]>([
    ['another size of page', [{ limit: '1' }], [{ limit: '9' }]],
    ['the same filters', [{ kind: 'x', since: '2026-01-31T12:00Z' }], [{ since: '2026-01-31T12:00Z', kind: 'x' }]],
    ['the same time in another spelling', [{ since: '2026-01-31T12:00Z' }], [{ since: '2026-01-31T13:00+01:00' }]],
    ['another key of the same project', [{}], [{}, { authorizer: { ...keyOf('admin'), key_id: 'key_2' } }]],
    ['the environment by name', [{ environment: 'live' }], [{}]],
    ['a key of another type', [{}], [{}, { authorizer: keyOf('live') }]],
    ['the same thing, encoded', [{}, { pathParameters: { id: 'a:b' } }], [{}, { pathParameters: { id: 'a%3Ab' } }]],
  ])('goes on with %s', async (_, first, second) => {
    const cursor = await cursorFor(requestOf(...first));
    const [query, ...rest] = second;
    expect((await load(requestOf({ ...query, cursor }, ...rest))).asked).toMatchObject([[expect.any(Number), 'b']]);
  });

  it.each<[string, Asked, Asked]>([
    ['another environment', [{}], [{ environment: 'sandbox' }]],
    ['the environment of another key', [{}], [{}, { authorizer: keyOf('test') }]],
    ['another project', [{}], [{}, { authorizer: { ...keyOf('admin'), project_id: 'prj_2' } }]],
    ['another list', [{}], [{}, {}, { path: '/v1/others' }]],
    ['another method', [{}], [{}, {}, { method: 'POST' }]],
    ['the list of another thing', [{}, { pathParameters: { id: 'a' } }], [{}, { pathParameters: { id: 'b' } }]],
    ['a filter more', [{}], [{ kind: 'x' }]],
    ['a filter less', [{ kind: 'x' }], [{}]],
    ['another filter', [{ kind: 'x' }], [{ kind: 'y' }]],
    ['another time', [{ since: '2026-01-31T12:00Z' }], [{ since: '2026-01-31T12:01Z' }]],
  ])('does not go on with %s', async (_, first, second) => {
    const cursor = await cursorFor(requestOf(...first));
    const [query, ...rest] = second;
    const { asked, result } = await load(requestOf({ ...query, cursor }, ...rest));
    expect(result).toMatchObject({ code: 'invalid_cursor' });
    expect(asked).toEqual([]);
  });

  it.each(['', 'b', 'Yg.Yg', '.'])('does not go on from a cursor that nobody gave out: %j', async (cursor) => {
    const { asked, result } = await load(requestOf({ cursor }));
    expect(result).toMatchObject({ code: 'invalid_cursor' });
    expect(asked).toEqual([]);
  });

  it('does not go on in another project that happens to have the same secret', async () => {
    const shared = { cursorSecret: async () => 'secret' };
    const none = async () => ({ data: [], next: 'b' });
    const first = await page(requestOf(), shared, none);
    const cursor = first instanceof Problem ? '' : (first.body.next_cursor ?? '');
    const other = requestOf({ cursor }, { authorizer: { ...keyOf('admin'), project_id: 'prj_2' } });
    expect(await page(other, shared, none)).toMatchObject({ code: 'invalid_cursor' });
  });
});
