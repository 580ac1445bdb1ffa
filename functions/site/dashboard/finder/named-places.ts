import { useEffect, useRef, useState } from 'preact/hooks';
import { isDocumentKey } from '../../../../lib/documents/patterns.ts';
import type { Environment } from '../../../../lib/space.ts';
import { knownKeys, similarPlaces } from '../components/similar-keys.ts';
import { findEvents } from '../events/event-places.ts';
import type { Call } from '../state/api.ts';
import { useLoaded } from '../state/hooks.ts';
import { linkTo } from '../state/router.ts';
import { useSession } from '../state/session.ts';
import type { Destination } from './destinations.ts';

/** A text is looked up when the user stops typing. */
const PAUSE_MS = 250;

interface Named {
  destinations: Destination[];
  /** A key of the project, if the text can be a key and names nothing. */
  example?: string | undefined;
}
const NOTHING: Named = { destinations: [] };

/** The event or document that a text names, or that it may mean. Until it is looked up, the list of its events. */
export function useNamed(typed: string): Named {
  const { call, environment } = useSession();
  const text = typed.trim();
  const settled = useSettled(text);
  const known = useRef<Promise<string[]>>(undefined);
  const readKnown = () => {
    known.current ??= knownKeys(call);
    return known.current;
  };
  const loaded = useLoaded(`${environment} ${settled}`, async () => ({
    value: await lookUp(call, environment, settled, readKnown),
  }));
  return text === settled && loaded.value ? loaded.value : { destinations: expected(text, environment) };
}

/** The value after it has not changed for a moment. */
function useSettled(text: string): string {
  const [settled, setSettled] = useState(text);
  useEffect(() => {
    const timer = setTimeout(() => setSettled(text), PAUSE_MS);
    return () => clearTimeout(timer);
  }, [text]);
  return settled;
}

/** What a text names if it exists. */
function expected(text: string, environment: Environment): Destination[] {
  if (text.startsWith('evt_')) return [{ kind: 'Event', name: text, href: linkTo(environment, ['events', text]) }];
  if (!isDocumentKey(text)) return [];
  return [eventsOf({ text, href: linkTo(environment, ['events'], { document_key: text }) })];
}

const eventsOf = ({ text, href }: { text: string; href: string }): Destination => ({
  kind: 'Events',
  name: `Events of ${text}`,
  href,
});

/** Finds what exists for a text: events first, because a project that only publishes events has no documents. */
async function lookUp(
  call: Call,
  environment: Environment,
  text: string,
  readKnown: () => Promise<string[]>,
): Promise<Named> {
  if (text === '' || !/^[\x21-\x7e]+$/.test(text)) return NOTHING;
  if (text.startsWith('evt_')) {
    const { value } = await call('GET /v1/events/{id}', { path: { id: text } });
    return value ? { destinations: expected(text, environment) } : NOTHING;
  }
  const find = findEvents(call, environment);
  const [events, documents] = isDocumentKey(text)
    ? await Promise.all([find(text), call('GET /v1/documents', { query: { prefix: text, limit: '1' } })])
    : [];
  const document = documents?.value?.data.find(({ document_key }) => document_key === text);
  const exact: Destination[] = [
    ...(events ? [eventsOf(events)] : []),
    ...(document ? [documentAt(text, environment)] : []),
  ];
  if (exact.length > 0) return { destinations: exact };
  const known = await readKnown();
  const similar = await similarPlaces(text, known, find);
  return { destinations: similar.map(eventsOf), example: similar.length === 0 ? known[0] : undefined };
}

const documentAt = (key: string, environment: Environment): Destination => ({
  kind: 'Document',
  name: key,
  href: linkTo(environment, ['documents', key]),
});
