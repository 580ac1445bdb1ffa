import { describe, expect, it } from 'vitest';
import { sameJson } from '../../../lib/documents/document.ts';
import { MAX_KNOWN, SyncRequest } from '../../../lib/documents/sync.ts';
import type { Json } from '../../../lib/json.ts';
import { violationsOf } from '../../support/violations.ts';

describe('two JSON values', () => {
  const same: [Json | undefined, Json | undefined][] = [
    [undefined, null],
    [
      { a: 1, b: [2, { d: 4, c: 3 }] },
      { b: [2, { c: 3, d: 4 }], a: 1 },
    ],
  ];
  const different: [Json | undefined, Json | undefined][] = [
    [1, '1'],
    [[1, 2], [12]],
    [['a,b'], ['a', 'b']],
    [
      { a: 1, b: 2 },
      { a: 2, b: 1 },
    ],
    [{ a: 'b' }, { b: 'a' }],
    [{ '0': 1 }, [1]],
  ];

  it.each(same)('%j and %j are equal', (a, b) => expect(sameJson(a, b)).toBe(true));
  it.each(different)('%j and %j are not', (a, b) => expect(sameJson(a, b)).toBe(false));
});

it('names what is wrong with the revisions that a node knows, and everything that is wrong with a push', () => {
  const faultsOf = (known: object, push: object[] = []) =>
    violationsOf(SyncRequest, { node_id: 'n', pattern: '*', push, known });
  expect(faultsOf({ 'a b': 1 })).toEqual(['known must map document keys to revisions']);
  const many = Object.fromEntries(Array.from({ length: MAX_KNOWN + 1 }, (_, i) => [`d${i}`, i]));
  expect(faultsOf(many)).toEqual(['known must have at most 2000 members']);
  const wrong = faultsOf({}, [{ op: 'unknown', document_key: 'a b', base_revision: -1 }]);
  expect(wrong.map((text) => text.split(' ')[0])).toEqual(
    ['op', 'document_key', 'base_revision'].map((name) => `push[0].${name}`),
  );
});
