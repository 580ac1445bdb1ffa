import fc from 'fast-check';
import * as v from 'valibot';
import { describe, expect, it } from 'vitest';
import { DocumentKey, KeyPrefix, Pattern } from '../../../lib/documents/document.ts';
import {
  covers,
  intersect,
  isDocumentKey,
  isPattern,
  matchesAny,
  matchesPattern,
  rangesOf,
} from '../../../lib/documents/patterns.ts';
import patterns from '../../cases/patterns.json' with { type: 'json' };

const outcomeOf = (pattern: string, key: string | null) => {
  if (!isPattern(pattern)) return 'invalid_pattern';
  if (!isDocumentKey(key ?? '')) return 'invalid_key';
  return matchesPattern(pattern, key ?? '') ? 'allow' : 'deny';
};

describe('a pattern', () => {
  it.each(patterns.cases)('$pattern against $key: $outcome', ({ pattern, key, outcome }) => {
    expect(outcomeOf(pattern, key)).toBe(outcome);
  });

  const segment = fc.constantFrom('a', 'b', 'A');
  const key = fc.array(segment, { minLength: 1, maxLength: 4 }).map((all) => all.join(':'));
  const pattern = fc
    .array(fc.oneof(segment, fc.constant('*')), { minLength: 1, maxLength: 4 })
    .map((all) => all.join(':'));

  it('covers another pattern exactly if it matches all of its keys', () => {
    const longer = (texts: string[], segments: string[]) =>
      texts.flatMap((text) => segments.map((each) => `${text}:${each}`));
    const upTo = (length: number, segments: string[]): string[] =>
      length === 1 ? segments : [...segments, ...longer(upTo(length - 1, segments), segments)];
    const keys = upTo(4, ['a', 'b', 'other']);
    const keysOf = (pattern: string) => new Set(keys.filter((key) => matchesPattern(pattern, key)));
    const all = new Map(upTo(3, ['a', 'b', '*']).map((pattern) => [pattern, keysOf(pattern)]));
    for (const [outer, matched] of all)
      for (const [inner, own] of all) expect(covers(outer, inner), `${outer} ${inner}`).toBe(own.isSubsetOf(matched));
  });

  it('has ranges that contain every key that it matches, do not overlap, and intersect in their common keys', () => {
    const some = fc.array(pattern, { maxLength: 5 });
    const isIn = (ranges: ReturnType<typeof rangesOf>, document: string) =>
      ranges.some(({ first, last }) => first <= document && document <= last);
    fc.assert(
      fc.property(some, some, key, (ones, others, document) => {
        const [a, b] = [rangesOf(ones), rangesOf(others)];
        const common = intersect(a, b);
        expect(isIn(common, document)).toBe(isIn(a, document) && isIn(b, document));
        if (matchesAny(ones, document)) expect(isIn(a, document)).toBe(true);
        for (const ranges of [a, b, common])
          for (const [i, { first, last }] of ranges.entries())
            expect([first > (ranges[i - 1]?.last ?? ''), first <= last]).toEqual([true, true]);
      }),
      { numRuns: 2000 },
    );
  });

  const of = (prefix: string) => ({ first: prefix, last: `${prefix}\x7f` });
  const only = (key: string) => ({ first: key, last: key });
  it.each([
    [[], []],
    [['a:*:b'], [of('a:')]],
    [['*:b'], [{ first: '!', last: '\x7f' }]],
    [
      ['a:b:*', 'z', 'a:*', 'a:c:*:d'],
      [of('a:'), only('z')],
    ],
    [
      ['a', 'a:*'],
      [only('a'), of('a:')],
    ],
  ])('combines with others into the fewest sorted ranges: %j', (patterns, ranges) => {
    expect(rangesOf(patterns)).toEqual(ranges);
  });
});

it.each([
  ['Az09._~@-', true],
  ['a%3Ab', false],
  ['...', true],
  ['a.', true],
  ['..:a', true],
  ['a:.', true],
])('a document key %s is valid: %s', (key, valid) => {
  expect(isDocumentKey(key)).toBe(valid);
  expect(isPattern(key)).toBe(valid);
});

// In a JSON Schema a pattern is a regular expression with the flag u.
const published = (schema: typeof DocumentKey | typeof KeyPrefix | typeof Pattern) =>
  new RegExp(schema.pipe[2].metadata.jsonSchema.pattern, 'u');
const text = fc.array(fc.constantFrom('.', '..', 'a', '*', ':', ' '), { maxLength: 5 }).map((all) => all.join(''));

it.each([
  ['a document key', DocumentKey],
  ['a prefix of keys', KeyPrefix],
  ['a pattern', Pattern],
] as const)('the published pattern of %s says what is checked', (_, schema) => {
  fc.assert(
    fc.property(text, (each) => published(schema).test(each) === v.is(schema, each)),
    { numRuns: 2000 },
  );
  const ascii = Array.from({ length: 128 }, (_, code) => String.fromCharCode(code));
  const isPublished = (each: string) => published(schema).test(each);
  expect(ascii.filter(isPublished)).toEqual(ascii.filter((each) => v.is(schema, each)));
});
