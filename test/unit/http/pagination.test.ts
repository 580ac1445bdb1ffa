import { randomBytes as random } from 'node:crypto';
import * as v from 'valibot';
import { describe, expect, it } from 'vitest';
import { createTable } from '../../../lib/aws/table.ts';
import { openCursor, sealCursor } from '../../../lib/http/cursor.ts';
import { CursorText, type Operation, operation, pageQuery } from '../../../lib/http/operation.ts';
import { createPageBudget, MAX_PAGE_BYTES, page } from '../../../lib/http/page.ts';
import { Problem } from '../../../lib/http/problems.ts';
import { parseRequest, type Request } from '../../../lib/http/request.ts';
import { cursorsOf } from '../../../lib/projects/cursors.ts';
import { timestampInput } from '../../../lib/schema.ts';
import { runtimeWith } from '../../support/runtime.ts';
import { type Given, keyOf, proxyEvent } from './builders.ts';

const seal = (position: string, secret = 'secret', scope = 'scope') => sealCursor(secret, scope, position, random);

/** Cursors under the secrets that `secretOf` returns for each project. */
const cursorsWith = (secretOf: (projectId: string) => Promise<string>) => {
  const runtime = runtimeWith(async ({ input }) => {
    const [kind, projectId = ''] = String(input.Key.pk).split('#');
    return kind === 'PROJECT' ? { Item: { cursorSecret: await secretOf(projectId) } } : {};
  });
  return cursorsOf(createTable(runtime), random);
};

describe('a cursor', () => {
  const sealed = seal('evt_1');
  const bytes = Buffer.from(sealed, 'base64url');

  it.each(['evt_1', '', 'ä€😀', 'a.b', '{"pk":"a#b"}', 'x'.repeat(2000)])('decodes to its position: %j', (given) => {
    expect(openCursor('secret', 'scope', seal(given))).toBe(given);
  });

  it('matches its documented format, which no short text does', () => {
    const { minLength, pattern } = v.getMetadata(CursorText).jsonSchema as { minLength: number; pattern: string };
    const conforms = (text: string) => text.length >= minLength && new RegExp(pattern).test(text);
    expect([seal(''), sealed, '', '0', `${sealed}=`].map(conforms)).toEqual([true, true, false, false, false]);
    expect(openCursor('secret', 'scope', seal('').slice(0, minLength - 1))).toBeNull();
  });

  it('hides its position', () => {
    const position = 'org:merger-with-acme:secret';
    const cursor = seal(position);
    expect(Buffer.from(cursor, 'base64url').toString('latin1')).not.toContain('merger');
    expect(seal(position)).not.toBe(cursor);
  });

  it('is rejected with any bit changed', () => {
    for (let i = 0; i < bytes.length * 8; i++) {
      const changed = Buffer.from(bytes);
      changed[i >> 3] = (bytes[i >> 3] ?? 0) ^ (1 << (i & 7));
      expect(openCursor('secret', 'scope', changed.toString('base64url'))).toBeNull();
    }
  });

  it.each<[string, string]>([
    ['nothing', ''],
    ['a nonce alone', bytes.subarray(0, 12).toString('base64url')],
    ['a byte cut off', bytes.subarray(0, -1).toString('base64url')],
    ['a shorter tag', bytes.subarray(0, -12).toString('base64url')],
    ['padding', `${sealed}=`],
    ['stray characters that a decoder ignores', `${sealed.slice(0, 9)} ${sealed.slice(9)}`],
  ])('is rejected with %s', (_, cursor) => {
    expect(cursor).not.toBe(sealed);
    expect(openCursor('secret', 'scope', cursor)).toBeNull();
  });

  it('is rejected with another secret', () => {
    expect(openCursor('another secret', 'scope', sealed)).toBeNull();
  });
});

describe('a page of a list', () => {
  const operationWith = (overrides: Partial<Operation> = {}): Operation => ({
    ...operation({
      method: 'GET',
      path: '/v1/things',
      function: 'keys',
      summary: 'List things',
      callers: ['admin', 'live', 'test'],
      permissions: [],
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
  const cursors = cursorsWith(async (projectId) => `secret of ${projectId}`);

  /** Loads a page, and returns the arguments and the result. */
  async function load(request: PageRequest, next?: string) {
    const asked: [limit: number, after: string | undefined][] = [];
    const result = await page(request, cursors, async (limit, after) => {
      asked.push([limit, after]);
      return { data: ['a', 'b'], next };
    });
    return { asked, result };
  }
  /** Returns the cursor of a page. */
  async function cursorFor(request: PageRequest, next = 'b'): Promise<string> {
    const { result } = await load(request, next);
    if (result instanceof Problem || result.body.next_cursor === null) throw new Error('There is no cursor');
    return result.body.next_cursor;
  }

  it('starts at the first item, by default with 50 items', async () => {
    expect((await load(requestOf())).asked).toEqual([[50, undefined]]);
    expect((await load(requestOf({ limit: '7' }))).asked).toEqual([[7, undefined]]);
    expect((await load(requestOf({ cursor: '' }))).result).toMatchObject({ code: 'invalid_cursor' });
  });

  it('is read again with half of the limit until its response fits', async () => {
    const asked: number[] = [];
    const item = '"'.repeat(MAX_PAGE_BYTES / 4 / 20);
    const result = await page(requestOf({ limit: '100' }), cursors, async (limit) => {
      asked.push(limit);
      return { data: Array(limit).fill(item), next: 'position' };
    });
    expect(asked).toEqual([100, 50, 25, 12]);
    expect(result).toMatchObject({ body: { data: Array(12).fill(item), next_cursor: expect.any(String) } });
  });

  it('contains a single item that exceeds the response limit', async () => {
    const item = 'x'.repeat(MAX_PAGE_BYTES + 1);
    const result = await page(requestOf({ limit: '2' }), cursors, async (limit) => ({
      data: Array(limit).fill(item),
      next: undefined,
    }));
    expect(result).toEqual({ body: { data: [item], next_cursor: null } });
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
  ])('continues with %s', async (_, first, second) => {
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
  ])('does not continue with %s', async (_, first, second) => {
    const cursor = await cursorFor(requestOf(...first));
    const [query, ...rest] = second;
    const { asked, result } = await load(requestOf({ ...query, cursor }, ...rest));
    expect(result).toMatchObject({ code: 'invalid_cursor' });
    expect(asked).toEqual([]);
  });

  it('continues with another container, which knows other projects and could not read the secret at first', async () => {
    const failures = [new Error('throttled')];
    const other = cursorsWith(async (projectId) => {
      if (failures.length > 0) throw failures.pop();
      return `secret of ${projectId}`;
    });
    await expect(other.seal('prj_1', 'scope', 'a')).rejects.toThrow('throttled');
    await other.seal('prj_2', 'scope', 'a');
    expect(await other.open('prj_1', 'scope', await cursors.seal('prj_1', 'scope', 'b'))).toBe('b');
  });
});

it('the budget of a page counts the bytes of JSON inside JSON, accepts an exact fit, and always accepts the first document', () => {
  const size = Buffer.byteLength(JSON.stringify(JSON.stringify('é"')));
  const { takes, bytes } = createPageBudget(2 * size);
  expect(['é"', 'xé"', 'é"', ''].map(takes)).toEqual([true, false, true, false]);
  expect(bytes()).toBe(2 * size);
  expect(createPageBudget(1).takes('more than that')).toBe(true);
});
