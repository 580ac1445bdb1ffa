import * as v from 'valibot';
import { describe, expect, it } from 'vitest';
import { CORS_ALLOWED, CORS_EXPOSED } from '../../../lib/http/headers.ts';
import { allowsCrossOrigin } from '../../../lib/http/operation.ts';
import { allOperations, apiOperations } from '../../../lib/http/operations.ts';

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
