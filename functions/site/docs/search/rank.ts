import MiniSearch from 'minisearch';
import type { Place } from './place.ts';

const MAX_RESULTS = 12;

/** Longer words have no typing errors: they are tokens and ids. The time for a comparison grows with the third power of the length. */
const MAX_CORRECTED = 30;

/** The weight of a word with the same meaning as a word of the query. */
const SYNONYM_WEIGHT = 0.6;

/** Words that say nothing about a section. */
const STOP_WORDS = new Set(
  `a about am an and are as at be been by can could did do does for from get got had has have how i if in into is it its me my
  of on or our should so that the their them then there these they this to use used using want was we were what when where
  which why will with would you your`.split(/\s+/),
);

/** Different words for the same thing. A search for one word of a group finds all of them. */
const SYNONYMS = [
  ['retry', 'backoff', 'attempt'],
  ['redeliver', 'resend', 'replay'],
  ['signature', 'hmac', 'sign', 'signing', 'verify', 'verification', 'verifying'],
  ['webhook', 'callback', 'hook'],
  ['duplicate', 'idempotent', 'idempotency', 'dedupe', 'twice'],
  ['recover', 'recovery', 'backfill'],
  ['resync', 'resynchronize', 'resynchronization'],
  ['allowlist', 'whitelist', 'cidr'],
  ['delete', 'remove', 'uninstall', 'erase'],
  ['order', 'ordering', 'sequence'],
  ['sandbox', 'staging'],
  ['cost', 'price', 'pricing'],
  ['deploy', 'deployment', 'install'],
  ['rotate', 'rotation', 'rotating', 'roll'],
  ['token', 'jwt'],
  ['page', 'pagination', 'paging', 'cursor'],
  ['limit', 'quota', 'throttle', 'throttling', 'backpressure'],
  ['disable', 'disabled', 'pause', 'stop', 'off', 'deactivate'],
  ['enable', 'reenable', 'reactivate'],
  ['outage', 'downtime', 'down', 'incident'],
  ['leak', 'leaked', 'stolen', 'compromised', 'exposed'],
  ['respond', 'response', 'acknowledge'],
  ['openapi', 'swagger'],
  ['audit', 'history'],
  ['upgrade', 'downgrade', 'rollback', 'migrate', 'migration'],
  ['batch', 'bulk'],
  ['precondition', 'lock', 'locking', 'optimistic'],
  ['restore', 'backup', 'undo'],
  ['browser', 'frontend', 'cors'],
  ['timeout', 'slow', 'latency'],
  ['error', 'problem'],
  ['test', 'sample', 'trigger'],
  ['changelog', 'release', 'news'],
];

const synonymsOf = new Map<string, string[]>();

/** Removes the case, and the endings of plurals, past tenses and participles, so that "ordered" and "ordering" find "order". */
function stem(word: string): string {
  const lower = word.toLowerCase();
  if (lower.length > 4 && lower.endsWith('ies')) return `${lower.slice(0, -3)}y`;
  if (lower.length > 5 && /[^aeiou](?:ed|ing)$/.test(lower) && /[aeiouy].*(?:ed|ing)$/.test(lower)) {
    const base = lower.replace(/(?:ed|ing)$/, '');
    return /([^aeiouls])\1$/.test(base) ? base.slice(0, -1) : base;
  }
  if (lower.length > 5 && /[^aeiou]e$/.test(lower)) return lower.slice(0, -1);
  if (lower.length > 3 && lower.endsWith('s') && !/(?:ss|us|is)$/.test(lower)) return stem(lower.slice(0, -1));
  return lower;
}

for (const group of SYNONYMS) {
  const stems = group.map(stem);
  for (const each of stems) synonymsOf.set(each, stems);
}

const termOf = (word: string): string | null => (STOP_WORDS.has(word.toLowerCase()) ? null : stem(word));

const weightOf = (place: Place | undefined): number => {
  if (place?.page === 'Changelog') return 0.7;
  if (place?.page === 'Errors') return 1;
  return place?.chapter === 'Guide' ? 1.5 : 1;
};

/** The words with two adjacent letters in the other order, a common typing error that counts as two changes. */
const swapsOf = (word: string): string[] =>
  [...word].slice(1).map((letter, i) => `${word.slice(0, i)}${letter}${word[i]}${word.slice(i + 2)}`);

/** The words of a text, and compounds such as `If-Match` and `next_cursor` as one more word. */
function tokenize(text: string): string[] {
  const compounds = text.match(/[\p{L}\p{N}]+(?:[-_.][\p{L}\p{N}]+)+/gu) ?? [];
  return [...text.split(/[\s\p{P}]+/u), ...compounds.map(joined)].filter(Boolean);
}

const joined = (compound: string): string => compound.replaceAll(/[-_.]/g, '');

/**
 * Returns a search over sections. Sections with more words of the query come first, where a word with the same meaning counts
 * too. Headings count more than text, and guides more than the API reference,
 * which counts more than the changelog. The list of errors counts like the reference.
 */
export function createSearch(places: readonly Place[]): (query: string) => Place[] {
  const index = new MiniSearch<Place & { id: number }>({
    fields: ['page', 'heading', 'keywords', 'text', 'code'],
    processTerm: termOf,
    tokenize,
  });
  index.addAll(places.map((place, id) => ({ id, ...place })));
  const options = {
    boost: { page: 2, heading: 4, keywords: 3, code: 0.5 },
    boostDocument: (id: number) => weightOf(places[id]),
    prefix: (term: string) => term.length > 2,
    fuzzy: (term: string) => (term.length > 4 && term.length <= MAX_CORRECTED ? 0.2 : false),
    weights: { prefix: 0.4, fuzzy: 0.2 },
  };
  const isKnown = (word: string) => index.search(word, { processTerm: (term) => term }).length > 0;
  return (query) => {
    const words = [...new Set(tokenize(query).flatMap((word) => termOf(word) ?? []))];
    const scores = new Map<number, { score: number; words: number }>();
    for (const word of words) {
      const corrected = word.length > MAX_CORRECTED || isKnown(word) ? [] : swapsOf(word).filter(isKnown);
      const synonyms = [word, ...corrected]
        .flatMap((each) => synonymsOf.get(each) ?? [])
        .filter((each) => each !== word);
      const queries = [word, ...corrected, { queries: synonyms, boostTerm: () => SYNONYM_WEIGHT }];
      for (const { id, score } of index.search({ queries }, options)) {
        const before = scores.get(id) ?? { score: 0, words: 0 };
        scores.set(id, { score: before.score + score, words: before.words + 1 });
      }
    }
    const rankOf = ({ score, words }: { score: number; words: number }) => score * words ** 2;
    return [...scores]
      .sort(([, a], [, b]) => rankOf(b) - rankOf(a))
      .slice(0, MAX_RESULTS)
      .flatMap(([id]) => places[id] ?? []);
  };
}
