import { describe, expect, it } from 'vitest';
import { excerptOf, splitAtMatches } from '../../../../functions/site/docs/search/excerpt.ts';

const words = (count: number): string => Array.from({ length: count }, (_, i) => `word-${i}`).join(' ');

describe('the excerpt of a search result', () => {
  it('starts and ends with whole words around the match', () => {
    const excerpt = excerptOf(words(60), ['word-30']);
    expect(excerpt).toMatch(/^…(?:word-\d+ )+word-\d+…$/);
    expect(excerpt).toContain(' word-30 ');
  });

  it('is the part with the most words of the query', () => {
    const text = `A lease. ${words(40)} It renews a lease. ${words(40)}`;
    expect(excerptOf(text, ['lease', 'renews'])).toMatch(/^….* It renews a lease\. .*…$/);
  });

  it('marks no omission in a short text', () => {
    expect(excerptOf('Rotate a key', ['key'])).toBe('Rotate a key');
  });

  it('starts at the beginning when the text contains no word of the query', () => {
    expect(excerptOf(words(60), ['missing'])).toMatch(/^word-0 .* word-\d+…$/);
  });

  it('cuts a word that is longer than the excerpt', () => {
    expect(excerptOf('x'.repeat(200), [])).toBe(`${'x'.repeat(110)}…`);
  });
});

describe('matches in a text', () => {
  it('are every second part, in any case', () => {
    const parts = ['', 'Rotate', ' the ', 'key', ', then ', 'rotate', ''];
    expect(splitAtMatches('Rotate the key, then rotate', ['rotate', 'key'])).toEqual(parts);
  });

  it('are literal', () => {
    expect(splitAtMatches('a.b and aXb (c)', ['a.b', '(c'])).toEqual(['', 'a.b', ' and aXb ', '(c', ')']);
  });
});
