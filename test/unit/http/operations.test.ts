import * as v from 'valibot';
import { describe, expect, it } from 'vitest';
import { mayCall } from '../../../lib/http/caller.ts';
import { CORS_ALLOWED, CORS_EXPOSED } from '../../../lib/http/headers.ts';
import { allowsCrossOrigin, type CallerType, type Operation } from '../../../lib/http/operation.ts';
import { allOperations, apiOperations } from '../../../lib/http/operations.ts';
import type { Permission } from '../../../lib/keys/token.ts';

const CALLERS: [CallerType, Permission[]][] = [
  ['admin', []],
  ['live', []],
  ['test', []],
  ['read', []],
  ['token', ['read']],
  ['token', ['write']],
  ['token', ['read', 'write']],
];

/** Returns the allowed callers from the path and method alone, independent of the operations table. */
function expected({ method, path }: Operation, type: CallerType, permissions: Permission[]): boolean {
  if (/^\/v1\/(keys|audit|project)/.test(path)) return type === 'admin';
  const isSpaceOfDocuments = /^\/v1\/(documents|sync|connections)/.test(path);
  if (type === 'read') return path === '/v1/sync' || (method === 'GET' && path.startsWith('/v1/documents'));
  if (type !== 'token') return true;
  if (!isSpaceOfDocuments) return false;
  if (path === '/v1/sync') return true;
  return permissions.includes(method === 'GET' || path.startsWith('/v1/connections') ? 'read' : 'write');
}

const protectedOperations = allOperations.filter(({ callers }) => callers !== 'anyone');

describe('an operation', () => {
  it.each(
    protectedOperations.map((operation) => [`${operation.method} ${operation.path}`, operation] as const),
  )('accepts the callers of the specification: %s', (_, operation) => {
    for (const [type, permissions] of CALLERS)
      expect(mayCall(operation, type, permissions), `${type} ${permissions}`).toBe(
        expected(operation, type, permissions),
      );
  });
});

describe('an id in a path', () => {
  const parameters = [...new Set(apiOperations.flatMap(({ parameters }) => Object.values(parameters)))];

  it.each(parameters)('is rejected before a read if no $resource can have it', ({ schema, example }) => {
    expect(v.is(schema, example)).toBe(true);
    for (const id of ['', 'a'.repeat(1500), `${example}\0`, ` ${example}`, '__proto__\n', '💩'])
      expect(v.is(schema, id), id).toBe(false);
  });
});

describe('a page of another origin', () => {
  it('may send every header and read every header of the operations that it can call', () => {
    const lowered = (names: readonly string[]) => names.map((name) => name.toLowerCase());
    for (const operation of allOperations.filter(allowsCrossOrigin)) {
      const headers = [...Object.keys(operation.headers), ...(operation.creates ? ['Idempotency-Key'] : [])];
      expect(lowered(CORS_ALLOWED), operation.path).toEqual(expect.arrayContaining(lowered(headers)));
      expect(lowered(CORS_EXPOSED), operation.path).toEqual(expect.arrayContaining(lowered(operation.responseHeaders)));
    }
    expect(lowered(CORS_ALLOWED)).toEqual(expect.arrayContaining(['authorization', 'content-type']));
  });
});
