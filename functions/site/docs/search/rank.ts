import MiniSearch from 'minisearch';
import type { Place } from './place.ts';

const MAX_RESULTS = 12;

/** Words that say nothing about a section. */
const STOP_WORDS = new Set(
  'a an and are as at be by can do does for from how i if in is it its my of on or the this to what when where which why with you your'.split(
    ' ',
  ),
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
  ['delete', 'remove'],
  ['order', 'ordering', 'sequence'],
  ['sandbox', 'staging'],
  ['cost', 'price', 'pricing'],
  ['deploy', 'deployment', 'install'],
  ['rotate', 'rotation', 'rotating', 'roll'],
  ['token', 'jwt'],
  ['page', 'pagination', 'paging', 'cursor'],
  ['limit', 'quota', 'throttle', 'throttling'],
  ['disable', 'disabled', 'pause', 'stop'],
  ['browser', 'frontend', 'cors'],
  ['timeout', 'slow', 'latency'],
  ['error', 'problem'],
  ['test', 'sample', 'trigger'],
  ['changelog', 'release', 'news'],
];

const synonymsOf = new Map<string, string[]>();

/** Removes the case and the ending of a plural. */
function stem(word: string): string {
  const lower = word.toLowerCase();
  if (lower.length > 4 && lower.endsWith('ies')) return `${lower.slice(0, -3)}y`;
  if (lower.length > 3 && lower.endsWith('s') && !/(?:ss|us|is)$/.test(lower)) return lower.slice(0, -1);
  return lower;
}

for (const group of SYNONYMS) {
  const stems = group.map(stem);
  for (const each of stems) synonymsOf.set(each, stems);
}

const termOf = (word: string): string | null => (STOP_WORDS.has(word.toLowerCase()) ? null : stem(word));

/**
 * Returns a search over sections. A result contains every word of the query, or a word with the same meaning. Without such a
 * result, sections with the most words are returned. Headings count more than text, and guides more than the API reference.
 */
export function createSearch(places: readonly Place[]): (query: string) => Place[] {
  const index = new MiniSearch<Place & { id: number }>({
    fields: ['page', 'heading', 'keywords', 'text'],
    processTerm: termOf,
  });
  index.addAll(places.map((place, id) => ({ id, ...place })));
  const options = {
    boost: { page: 2, heading: 4, keywords: 3 },
    boostDocument: (id: number) => (places[id]?.chapter === 'Guide' ? 1.5 : 1),
    prefix: (term: string) => term.length > 2,
    fuzzy: (term: string) => (term.length > 4 ? 0.2 : false),
    weights: { prefix: 0.4, fuzzy: 0.2 },
  };
  return (query) => {
    const words = query
      .split(/[\s\p{P}]+/u)
      .flatMap((word) => termOf(word) ?? [])
      .filter(Boolean);
    const alternatives = words.map((word) => ({
      combineWith: 'OR' as const,
      queries: [word, ...(synonymsOf.get(word) ?? []).filter((each) => each !== word)],
    }));
    const found = (combineWith: 'AND' | 'OR') => index.search({ combineWith, queries: alternatives }, options);
    const all = found('AND');
    const best = all.length > 0 ? all : found('OR');
    return best.slice(0, MAX_RESULTS).flatMap(({ id }) => places[id] ?? []);
  };
}
