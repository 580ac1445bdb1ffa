import { describe, expect, it } from 'vitest';
import { filterOf, textOfFilter } from '../../../../functions/site/dashboard/components/document-text.ts';
import {
  candidatesFor,
  exactKeyText,
  similarPlaces,
} from '../../../../functions/site/dashboard/components/similar-keys.ts';

const known = ['org:acme:invoice-1201', 'org:acme:invoice-12', 'org:acme:plan', 'org:globex:plan', 'notes:old-plan'];

describe('the keys that a text may mean', () => {
  it.each([
    ['invoice-1207', ['org:invoice-1207', 'org:acme:invoice-1207', 'org:globex:invoice-1207']],
    ['acme:invoice-9', ['org:acme:invoice-9', 'org:acme:acme:invoice-9', 'org:globex:acme:invoice-9']],
    ['org:acme', ['org:acme:*', 'org:acme:invoice-1201', 'org:acme:invoice-12', 'org:acme:plan']],
    ['ORG:ACME:PLAN', ['org:acme:plan']],
    ['old', ['notes:old-plan']],
    ['org:acme:*', ['org:acme:invoice-1201']],
    ['org:acme:plan', []],
    ['two words', []],
    [':', []],
  ])('contain it, or end with it after a start that other keys have: %s', (text, expected) => {
    const candidates = candidatesFor(text, known);
    expect(candidates).toEqual(expect.arrayContaining(expected));
    expect(candidates).not.toContain(text);
    if (expected.length === 0) expect(candidates.filter((key) => known.includes(key))).toEqual([]);
  });

  it('are whole segments before parts of one', () => {
    expect(candidatesFor('plan', known).slice(0, 2)).toEqual(['org:acme:plan', 'org:globex:plan']);
    expect(candidatesFor('plan', known).at(-1)).toBe('notes:old-plan');
  });

  it('are offered only if something exists for them', async () => {
    const find = async (key: string) => (key === 'org:acme:invoice-1207' ? { text: key, href: '#' } : undefined);
    expect(await similarPlaces('invoice-1207', known, find)).toEqual([{ text: 'org:acme:invoice-1207', href: '#' }]);
  });
});

it('gives a key of the project as an example, if there is one', () => {
  expect([exactKeyText('a:b'), exactKeyText(undefined)]).toEqual([
    'A document key must match exactly, such as a:b.',
    'A document key must match exactly.',
  ]);
});

describe('a search text', () => {
  it.each([
    ['org:acme:plan', { document_key: 'org:acme:plan', prefix: '' }],
    ['org:acme:*', { document_key: '', prefix: 'org:acme' }],
    ['', { document_key: '', prefix: '' }],
  ])('is a key or a prefix: %j', (text, filter) => {
    expect(filterOf(text)).toEqual(filter);
    expect(textOfFilter(filter)).toBe(text);
  });
});
