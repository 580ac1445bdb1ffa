import * as v from 'valibot';
import { describe, expect, it } from 'vitest';
import { invalid } from '../../lib/http/problems.ts';
import { parseJson } from '../../lib/json.ts';
import { examined, list, uniqueList } from '../../lib/lists.ts';
import { check, integer } from '../../lib/schema.ts';
import { violationsOf } from '../support/violations.ts';

/** A schema of texts that counts the validated items. */
function counting() {
  const counted = { examinations: 0 };
  const item = v.pipe(
    v.string('must be a string'),
    v.check((text) => ++counted.examinations > 0 && text.length < 4, 'is too long'),
  );
  return { item, counted };
}

describe('a list', () => {
  it('reports the violations of its length and of its items with their positions', () => {
    const { item } = counting();
    const schema = v.object({ names: list(item, 1, 3) });
    expect(violationsOf(schema, { names: [] })).toEqual(['names must have at least 1 entry']);
    expect(violationsOf(schema, { names: ['a', 'long'] })).toEqual(['names[1] is too long']);
    expect(violationsOf(schema, { names: 'a' })).toEqual(['names must be an array']);
    expect(violationsOf(v.object({ all: list(schema, 0, 1) }), { all: [{ names: ['a', 1] }] })).toEqual([
      'all[0].names[1] must be a string',
    ]);
    expect(check(schema, { names: ['a', 'a'] })).toEqual({ value: { names: ['a', 'a'] } });
  });

  it('examines no item when it is too long', () => {
    const { item, counted } = counting();
    expect(violationsOf(uniqueList(item, 0, 2), Array(3).fill('long'))).toEqual(['body must have at most 2 entries']);
    expect(counted.examinations).toBe(0);
  });

  it('stops at 100 violations', () => {
    const { item, counted } = counting();
    expect(violationsOf(examined(item), ['a', ...Array(1000).fill('long')])).toHaveLength(100);
    expect(counted.examinations).toBe(101);
  });

  it.each([
    ['A', 'a'],
    ['a', 'A'],
  ])('compares texts by their identity, in any order: %s, %s', (...names) => {
    const schema = uniqueList(v.string(), 0, 9, (name) => name.toLowerCase());
    expect(violationsOf(schema, names)).toEqual([`[1] "${names[1]}" is a duplicate`]);
  });

  it('reports shortened duplicates together with other violations', () => {
    const { item } = counting();
    expect(violationsOf(uniqueList(item, 0, 9), ['a', 'long', 'a', 'b', 'a'])).toEqual([
      '[1] is too long',
      '[2] "a" is a duplicate',
      '[4] "a" is a duplicate',
    ]);
    const long = 'x'.repeat(65);
    expect(violationsOf(uniqueList(v.string(), 0, 9), [long, long])).toEqual([
      `[1] "${'x'.repeat(64)}…" is a duplicate`,
    ]);
  });
});

describe('the violations of a response', () => {
  const violations = (count: number) =>
    Array.from({ length: count }, (_, i) => ({ field: `f${i}`, detail: 'is wrong' }));

  it('are all listed up to 100', () => {
    expect(invalid(violations(100)).errors).toEqual(violations(100));
  });

  it('end with the number of omitted violations', () => {
    const { errors = [] } = invalid(violations(130));
    expect(errors).toHaveLength(100);
    expect(errors.slice(0, 99)).toEqual(violations(99));
    expect(errors.at(-1)).toEqual({ field: 'body', detail: 'at least 31 more violations are not listed' });
  });

  it('repeat at most 64 characters of a name', () => {
    expect(violationsOf(v.strictObject({}), { [`${'x'.repeat(63)}😀`]: 1 })).toEqual([
      `${'x'.repeat(63)}\ufffd… is not a known field`,
    ]);
  });
});

it.each([
  ['60.0', 60],
  ['6e1', 60],
  ['-0', 0],
])('an integer can be written in any form of JSON: %s', (text, value) => {
  expect(check(integer(0, 100), parseJson(text))).toEqual({ value });
});
