import { environmentFor, nameOf } from '../keys/keys.tsx';
import type { Key, Webhook } from '../state/api.ts';
import { linkTo } from '../state/router.ts';
import { canOpen, type Session, shownOf } from '../state/session.ts';
import { webhookName } from '../webhooks/webhook-text.ts';

/** A page that the search can open. */
export interface Destination {
  kind: 'Page' | 'Webhook' | 'Key' | 'Event' | 'Events' | 'Document';
  name: string;
  /** More text to find it by. */
  note?: string | undefined;
  href: string;
}

const MAX_RESULTS = 10;

const PAGES: readonly (readonly [name: string, segments: readonly string[], query?: Record<string, string>])[] = [
  ['Overview', []],
  ['Events', ['events']],
  ['Failed events', ['events'], { status: 'failed' }],
  ['Webhooks', ['webhooks']],
  ['Create Webhook', ['webhooks', 'new']],
  ['Keys', ['keys']],
  ['Generate key', ['keys', 'new']],
  ['Tokens', ['tokens']],
  ['Documents', ['documents']],
  ['Create document', ['documents'], { new: '1' }],
  ['Links', ['links']],
  ['Settings and audit log', ['settings']],
];

/** Every page that the user can open, webhook of the environment and key. */
export function destinationsOf(
  session: Pick<Session, 'environment' | 'can'>,
  webhooks: readonly Webhook[],
  keys: readonly Key[],
) {
  const { environment } = session;
  return [
    ...PAGES.filter(([, segments, query]) => canOpen(session, segments, query?.['new'] !== undefined)).map(
      ([name, ...place]): Destination => ({ kind: 'Page', name, href: linkTo(environment, ...place) }),
    ),
    ...webhooks.map(
      (webhook): Destination => ({
        kind: 'Webhook',
        name: webhookName(webhook),
        note: `${webhook.id} ${webhook.url}`,
        href: linkTo(environment, ['webhooks', webhook.id]),
      }),
    ),
    ...keys.map(
      (key): Destination => ({
        kind: 'Key',
        name: nameOf(key),
        note: `${key.id} ${shownOf(key)}`,
        href: linkTo(environmentFor(key.type, environment), ['keys', key.id]),
      }),
    ),
  ];
}

/** At most 10 destinations that contain every word of a text. Names with words that start with the text come first. */
export function matches(all: readonly Destination[], text: string): Destination[] {
  const words = wordsOf(text);
  const found = all.filter(({ name, note = '' }) => {
    const content = `${name} ${note}`.toLowerCase();
    return words.every((word) => content.includes(word));
  });
  const isStart = ({ name }: Destination) => words.every((word) => ` ${name.toLowerCase()}`.includes(` ${word}`));
  return [...found.filter(isStart), ...found.filter((each) => !isStart(each))].slice(0, MAX_RESULTS);
}

const wordsOf = (text: string): string[] => text.trim().toLowerCase().split(/\s+/);
