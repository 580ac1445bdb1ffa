import { isDocumentKey } from '../../../../lib/documents/patterns.ts';
import type { Call } from '../state/api.ts';

/** Where something exists for a document key, such as the list of its events. */
export interface Place {
  text: string;
  href: string;
}
/** Finds the place for a key, if something exists there. */
export type Find = (key: string) => Promise<Place | undefined>;

/** At most this many keys are tried, because each costs a request. */
const MAX_TRIED = 6;
const MAX_SHOWN = 3;

/** The keys of the latest events and of the first documents of a project. */
export async function knownKeys(call: Call): Promise<string[]> {
  const [events, documents] = await Promise.all([
    call('GET /v1/events', { query: { limit: '100' } }),
    call('GET /v1/documents', { query: { limit: '100' } }),
  ]);
  const keys: unknown[] = [
    ...(events.value?.data ?? []).map(({ data }) => data['document_key']),
    ...(documents.value?.data ?? []).map(({ document_key }) => document_key),
  ];
  return keys.filter((key): key is string => typeof key === 'string' && isDocumentKey(key));
}

/** The advice for a text that no key is similar to. */
export const exactKeyText = (example: string | undefined): string =>
  `A document key must match exactly${example ? `, such as ${example}` : ''}.`;

/** The places of the keys that a text may mean, because a search by key needs the exact key. */
export async function similarPlaces(text: string, known: readonly string[], find: Find): Promise<Place[]> {
  const places = await Promise.all(candidatesFor(text, known).slice(0, MAX_TRIED).map(find));
  return places.filter((place) => place !== undefined).slice(0, MAX_SHOWN);
}

/**
 * The keys that a text may mean: all after it, as a pattern, known ones that contain it, whole segments first, and the text after the starts
 * of known ones, the most frequent starts first.
 */
export function candidatesFor(text: string, known: readonly string[]): string[] {
  const wanted = text.replace(/[:*]+$/, '').toLowerCase();
  if (wanted === '') return [];
  const containing = [...new Set(known)].filter((key) => key !== text && key.toLowerCase().includes(wanted));
  const isWhole = (key: string) => `:${key.toLowerCase()}:`.includes(`:${wanted}:`);
  const uses = new Map<string, number>();
  for (const start of known.flatMap(startsOf)) uses.set(start, (uses.get(start) ?? 0) + 1);
  const completed = [...uses]
    .sort(([, a], [, b]) => b - a)
    .map(([start]) => `${start}:${text}`)
    .filter((key) => isDocumentKey(key) && !known.includes(key));
  const whole = containing.filter(isWhole).slice(0, MAX_SHOWN);
  const below = known.some((key) => key.toLowerCase().startsWith(`${wanted}:`))
    ? [`${text.replace(/[:*]+$/, '')}:*`]
    : [];
  return [
    ...below.filter((pattern) => pattern !== text),
    ...whole,
    ...completed.slice(0, MAX_SHOWN),
    ...containing.filter((key) => !isWhole(key)),
  ];
}

/** `a:b:c` → `a`, `a:b`. */
const startsOf = (key: string): string[] =>
  key
    .split(':')
    .slice(0, -1)
    .map((_, i, segments) => segments.slice(0, i + 1).join(':'));
