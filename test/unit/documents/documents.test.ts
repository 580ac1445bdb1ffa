import { describe, expect, it } from 'vitest';
import { sameJson } from '../../../lib/documents/document.ts';
import { Push } from '../../../lib/documents/sync.ts';
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

it('names everything that is wrong with a push, also with an unknown op', () => {
  const violations = violationsOf(Push, { op: 'unknown', document_key: 'a b', base_revision: -1 });
  expect(violations.map((text) => text.split(' ')[0])).toEqual(['op', 'document_key', 'base_revision']);
});
