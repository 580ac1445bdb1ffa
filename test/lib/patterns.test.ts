import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { covers, isDocumentKey, isPattern, literalPrefix, matchesPattern } from '../../lib/patterns.ts';
import patterns from '../cases/patterns.json' with { type: 'json' };

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

  it('covers another only if it matches every key that the other does', () => {
    fc.assert(
      fc.property(pattern, pattern, key, (outer, inner, each) => {
        fc.pre(covers(outer, inner) && matchesPattern(inner, each));
        expect(matchesPattern(outer, each)).toBe(true);
      }),
      { numRuns: 2000 },
    );
  });

  it('matches only keys that begin with its literal part', () => {
    fc.assert(
      fc.property(pattern, key, (each, document) => {
        fc.pre(matchesPattern(each, document));
        expect(document.startsWith(literalPrefix(each))).toBe(true);
      }),
    );
  });
});

describe('a document key', () => {
  it.each([
    ['a'.repeat(64), true],
    ['a'.repeat(65), false],
    [Array(16).fill('a').join(':'), true],
    [Array(17).fill('a').join(':'), false],
    [Array(8).fill('a'.repeat(63)).join(':').concat('a'), true],
    [Array(8).fill('a'.repeat(64)).join(':'), false],
    ['Az09._~@-', true],
    ['ä', false],
    ['a b', false],
    ['a%3Ab', false],
    ['', false],
  ])('%s: %s', (key, valid) => {
    expect(isDocumentKey(key)).toBe(valid);
  });
});
