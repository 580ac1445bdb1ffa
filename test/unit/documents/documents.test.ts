import { describe, expect, it } from 'vitest';
import { type Conflict, fieldsHeld, sameJson, withoutOthersValues } from '../../../lib/documents/document.ts';
import type { Json } from '../../../lib/json.ts';

describe('a token that may not read', () => {
  const conflict = (field: string): Conflict => ({
    field,
    winner: { value: 'w', origin: 'a', revision: 2 },
    loser: { value: 'l', origin: 'b', revision: 1 },
  });

  it('receives only the fields of its request that are not removed', () => {
    expect(fieldsHeld({ a: 1, b: null, c: false, d: '' })).toEqual({ a: 1, c: false, d: '' });
  });

  it('receives conflicts about the fields of its request, without the value of the other side', () => {
    const conflicts = [conflict('a'), conflict('b'), conflict('toString')];
    const [{ value: _w, ...winner }, { value: _l, ...loser }] = [conflict('a').winner, conflict('a').loser];
    expect(withoutOthersValues(conflicts, { a: 1 }, 'last_write_wins')).toEqual([{ ...conflict('a'), loser }]);
    for (const rule of ['keep_server', 'reject'] as const)
      expect(withoutOthersValues(conflicts, { a: null }, rule)).toEqual([{ ...conflict('a'), winner }]);
  });
});

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
