import { describe, expect, it } from 'vitest';
import { chapters } from '../../../../functions/site/docs/render/docs.ts';
import { searchIndex } from '../../../../functions/site/docs/render/search-index.ts';
import { excerptOf, splitAtMatches } from '../../../../functions/site/docs/search/excerpt.ts';
import { queryOf } from '../../../../functions/site/docs/search/query.ts';
import { createSearch } from '../../../../functions/site/docs/search/rank.ts';
import { PROBLEMS } from '../../../../lib/http/problems.ts';
import { QUESTIONS } from './questions.ts';

const places = searchIndex(chapters());
const search = createSearch(places);

const rows = Object.entries(QUESTIONS).flatMap(([href, queries]) => queries.map((query) => [query, href] as const));

describe('the search', () => {
  it.each(rows)('lists the right section first or second: %s', (query, href) => {
    const found = search(queryOf(query)).map((place) => place.href);
    expect(found.slice(0, 2)).toContain(href);
  });

  it('finds the last words of a long section', () => {
    for (const { text, href } of places) {
      if (text.length < 1000) continue;
      const last =
        text
          .split(/[\s\p{P}]+/u)
          .filter((word) => /^\w{6,}$/.test(word))
          .at(-1) ?? '';
      expect(search(last).length, `${href}: ${last}`).toBeGreaterThan(0);
    }
  });

  it('has excerpts without code, and finds code', () => {
    const [place] = search('timingSafeEqual(given, expected)');
    expect(place?.code).toContain('timingSafeEqual(given, expected)');
    const texts = places.map(({ text }) => text).join(' ');
    expect(texts).not.toMatch(/timingSafeEqual\(|compare_digest\(|curl -X/);
  });

  it('finds the explanation of an error, and not the operations that can return it', () => {
    for (const [code, { status, title }] of Object.entries(PROBLEMS))
      for (const query of [`${status} ${code}`, JSON.stringify({ title, status, code })]) {
        const found = search(queryOf(query)).map(({ href }) => href);
        expect(found.slice(0, 2), query).toContain(`docs/errors#${code}`);
      }
  });

  it('ignores the lists of errors of the operations', () => {
    const operations = places.filter(({ chapter }) => chapter === 'API');
    expect(operations.length).toBeGreaterThan(30);
    expect(operations.filter(({ text }) => text.includes('internal_error')).map(({ href }) => href)).toEqual([]);
  });

  it('has excerpts without character references, placeholders and labels of commands', () => {
    const texts = places.map(({ text }) => text);
    expect(texts.filter((text) => /&(?:#\w+|\w+);|\bcurl curl\b|\{base_url\}/.test(text))).toEqual([]);
  });

  it.each(['qwxzvkj', '  '])('finds nothing for words that no section resembles: "%s"', (query) => {
    expect(search(query)).toEqual([]);
  });

  it('lists at most 12 sections', () => {
    expect(search('webhook')).toHaveLength(12);
  });

  it('ignores the plural, the case and filler words', () => {
    const best = (query: string) => search(query)[0]?.href;
    expect(best('How do I use the Allowlists?')).toBe(best('allowlist'));
  });

  it('finds the status of an error', () => {
    const errors = search('403').filter(({ page }) => page === 'Errors');
    expect(errors.map(({ heading }) => heading)).toContain('ip_not_allowed');
  });

  it('ranks sections by words when no section contains all of them', () => {
    expect(search('ngrok qwxzvkj').map(({ href }) => href)).toEqual(['docs/receiving#on-your-machine']);
  });
});

const words = (count: number): string => Array.from({ length: count }, (_, i) => `word-${i}`).join(' ');

/** Long enough for a slow computer, and a fraction of the time without a limit. */
const MAX_MS = 2000;
const timeOf = (call: () => void): number => {
  const startedAt = performance.now();
  call();
  return performance.now() - startedAt;
};

describe('a pasted text', () => {
  const token = `${'eyJhbGciOiJIUzI1NiJ9'.repeat(50)}.${'c2lnbmF0dXJl'.repeat(70)}`;
  const prose = places.map(({ text }) => text).join(' ');

  it('that is one long word, such as a token, does not stop the page', () => {
    expect(timeOf(() => search(token))).toBeLessThan(MAX_MS);
  });

  it('that is a long page does not stop the page, and finds sections with its first words', () => {
    const find = () => {
      const query = queryOf(prose);
      const queried = query.toLowerCase().split(/\s+/);
      const found = search(query);
      for (const { text } of found) splitAtMatches(excerptOf(text, queried), queried);
      expect(found).not.toEqual([]);
    };
    expect(timeOf(find)).toBeLessThan(MAX_MS);
  });
});

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
