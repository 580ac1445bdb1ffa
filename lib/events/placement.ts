import { isDocumentKey } from '../documents/patterns.ts';
import { bucketOf, earliestId, type Random, randomDigits, toDigits } from '../ids.ts';

/*
 * Where the events of a space are stored, and how two lists find them (decisions/016-lists-of-events.md):
 *
 *   the events of a document   share a partition of the table. The id of an event names it, so an event is read without an index
 *   the events of a type       are in the index by type, which has one entry for each publication. The entry is the first event of
 *                              the type in the publication, and its followers are listed in it
 *
 * A publication is what one transaction stores: a batch of events, or the events of one write of a document.
 */

/** The characters of an id after its time: of the publication, of the place in it, and of the partition. */
const [PUBLICATION, PLACE, PARTITION] = [10, 2, 4];

/** The partitions of a space. Two documents share one so rarely that it does not matter, but lists must filter by document. */
const PARTITIONS = 32 ** PARTITION;

/**
 * The ids of the events of one publication, by their data. An id:
 *
 *   evt_ ┬ time of acceptance, 10 characters
 *        │ random, 10, the same for the whole publication
 *        │ place in the publication, 2
 *        └ partition, 4: a hash of the document key
 *
 * Ids sort by time, like every id, and in the order of the publication. No other event sorts between those of a publication.
 */
export function newEventIds(data: readonly object[], atMs: number, random: Random): string[] {
  const publication = randomDigits(random, PUBLICATION);
  return data.map((each, i) => {
    const place = toDigits(i, PLACE);
    // Events without a document are spread evenly.
    const partition = bucketOf(documentKeyIn(each) ?? `${publication}${place}`, PARTITIONS);
    return `${earliestId('evt', atMs)}${publication}${place}${toDigits(partition, PARTITION)}`;
  });
}

/** The partition of an event. */
export const partitionOf = (eventId: string): string => eventId.slice(-PARTITION);

/** The partition of the events of a document. */
export const partitionOfDocument = (documentKey: string): string =>
  toDigits(bucketOf(documentKey, PARTITIONS), PARTITION);

/** What lists need of an event. */
interface ListedEvent {
  id: string;
  documentKey?: string | undefined;
}

const publicationOf = (eventId: string): string => eventId.slice(0, -PLACE - PARTITION);

/** Each event, and if it is the first of its type in its publication, the others of this type, in order. */
export function withFollowers<Event extends { id: string; type: string }>(
  events: readonly Event[],
): { event: Event; followers: Event[] | undefined }[] {
  const found = new Map<string, Event[]>();
  return events.map((event) => {
    const group = `${publicationOf(event.id)} ${event.type}`;
    const followers = found.get(group);
    followers?.push(event);
    if (!followers) found.set(group, []);
    return { event, followers: followers ? undefined : found.get(group) };
  });
}

/** The followers of an event, as a text for its item: place, partition and document key of each. Keys contain no space. */
export const followersText = (followers: readonly ListedEvent[]): string | undefined =>
  followers.map(({ id, documentKey = '' }) => id.slice(-PLACE - PARTITION) + documentKey).join(' ') || undefined;

/** The followers that `followersText` wrote into the item of an event. */
export const followersIn = (firstId: string, text: string | undefined): ListedEvent[] =>
  (text?.split(' ') ?? []).map((follower) => ({
    id: publicationOf(firstId) + follower.slice(0, PLACE + PARTITION),
    documentKey: follower.slice(PLACE + PARTITION) || undefined,
  }));

/**
 * The document of an event, or `undefined`. In `sync.completed`, `document_key` is an additional member that can have any value, and only
 * a valid document key names a document.
 */
export function documentKeyIn(data: object): string | undefined {
  const { document_key: key } = data as { document_key?: unknown };
  return typeof key === 'string' && isDocumentKey(key) ? key : undefined;
}
