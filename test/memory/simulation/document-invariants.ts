import type { Item } from '../../../infra/local/memory/paths.ts';
import { matchesAny } from '../../../lib/documents/patterns.ts';
import type { StoredEvent } from '../../../lib/events/event.ts';
import type { Promised } from './invariants.ts';
import { contentOf, isDocument, isUnique, type Model } from './model.ts';
import type { Replica } from './replica.ts';
import { must } from './violation.ts';

type Fields = Record<string, unknown>;

/** An event about a write of a document. */
interface WriteEvent {
  type: string;
  key: string;
  revision: number;
  origin: string;
  /** The fields that it set. A removed field has the value `null`. */
  set: Fields;
}

/** For how long the service knows the name of a completed cycle, less the difference of clocks. */
const NAMED_MS = 29 * 24 * 60 * 60 * 1000;

/** A cycle that was completed in the current table has an event, and no cycle has another one while the service knows its name. */
export function onCycles(events: readonly StoredEvent[], { cycles }: Promised, table: number): void {
  const completed = events.filter(({ type }) => type === 'sync.completed').map(({ body }) => JSON.parse(body).data);
  for (const [name, completedIn] of cycles) {
    const times = completed
      .filter(({ sync_id }) => sync_id === name)
      .map(({ completed_at }) => Date.parse(completed_at))
      .sort((a, b) => a - b);
    const isOnce = times.every((at, i) => at >= (times[i - 1] ?? Number.NEGATIVE_INFINITY) + NAMED_MS);
    const isRight = isOnce && (times.length > 0 || completedIn !== table);
    must(isRight, 'A sync cycle completes once', `${name}, completed in ${completedIn}, has ${times.length} events`);
  }
}

/** Every write of a document has one event, and the events add up to the document and to what clients were told. */
export function onDocuments(items: readonly Item[], events: readonly StoredEvent[], model: Model, table: number): void {
  const documents = items.filter(({ pk }) => isDocument(pk));
  const listed = new Map(items.filter(({ pk }) => String(pk).startsWith('REVISIONS#')).map((item) => [item.sk, item]));
  const writes = events.flatMap(writeEventOf).sort((a, b) => a.revision - b.revision);
  for (const document of documents) {
    const key = String(document.sk);
    const revision = Number(document.revision);
    must(listed.get(key)?.revision === revision, 'The list of revisions matches the documents', key);
    const own = writes.filter((write) => write.key === key);
    const revisions = own.map((write) => write.revision);
    // Only a restore skips revisions.
    const gaps = revisions.filter((each, i) => each !== (revisions[i - 1] ?? 0) + 1);
    const isEach = new Set(revisions).size === revisions.length && revisions.at(-1) === revision;
    must(
      isEach && gaps.length <= table,
      'Every write of a document has one event',
      `${key} has revision ${revision}, events of ${revisions}`,
    );
    must(foldedOf(own) === sortedOf(contentOf(document)), 'A document matches its events', key);
    onDeletions(key, own, model);
  }
  onEffects(writes, model);
  onOrder(writes, model);
  for (const { write, revision, status, table: storedIn } of model.acknowledged) {
    if (storedIn !== table) continue;
    const found = writes.find((event) => event.key === write.document_key && event.revision === revision);
    const values = Object.values(write.fields ?? {}).filter(isUnique);
    const isOwn = status !== 'applied' || values.every((value) => Object.values(found?.set ?? {}).includes(value));
    const name = `${write.document_key} ${revision}, push ${write.position} of ${write.request}`;
    must(found !== undefined && isOwn, 'An acknowledged write is stored', name);
  }
}

/** A write takes effect once, also if its request is repeated after other writes. */
function onEffects(writes: readonly WriteEvent[], { byValue, deletions }: Model): void {
  const invariant = 'An acknowledged write is never undone by a repeat';
  const effects = new Set<string>();
  for (const { key, revision, set } of writes) {
    for (const value of Object.values(set).filter(isUnique)) {
      must(!effects.has(value), invariant, `${key} ${revision} sets ${value} again, of ${byValue.get(value)?.request}`);
      effects.add(value);
    }
  }
  const deleted = writes.filter(({ type }) => type === 'document.deleted').map(({ key, origin }) => `${key} ${origin}`);
  for (const name of new Set(deleted)) {
    const count = deleted.filter((each) => each === name).length;
    must(count <= (deletions.get(name) ?? 0), invariant, `${count} deletions of ${name}`);
  }
}

/** The pushes of one request to one document take effect in their order, also if some need a repeat. */
function onOrder(writes: readonly WriteEvent[], { byValue }: Model): void {
  const positions = new Map<string, number>();
  for (const { key, revision, set } of writes) {
    const write = byValue.get(String(Object.values(set).find(isUnique)));
    if (!write) continue;
    const name = `${key} in ${write.request}`;
    const isNext = write.position >= (positions.get(name) ?? 0);
    must(isNext, 'Pushes of one request follow each other', `${name}: push ${write.position} wrote ${revision}`);
    positions.set(name, write.position);
  }
}

/** A patch does not create a document that another request deleted after its base. */
function onDeletions(key: string, writes: readonly WriteEvent[], { byValue, byRequest }: Model): void {
  for (const [i, { type, revision, set }] of writes.entries()) {
    const write = byValue.get(String(Object.values(set).find(isUnique)));
    const deletion = writes[i - 1];
    if (type !== 'document.created' || write?.op !== 'patch' || write.base_revision === undefined || !deletion)
      continue;
    const earlier = byRequest.get(write.request)?.slice(0, write.position) ?? [];
    const isOwn =
      deletion.origin === write.origin && earlier.some((each) => each.op === 'delete' && each.document_key === key);
    const isKnown = deletion.revision <= write.base_revision;
    must(isOwn || isKnown, 'A deleted document does not come back as a fragment', `${key} ${revision}`);
  }
}

/** After its last cycle, every replica has the same documents as the service. */
export function onConverged(items: readonly Item[], replicas: readonly Replica[], table: number): void {
  const documents = new Map(items.filter(({ pk }) => isDocument(pk)).map((item) => [String(item.sk), item]));
  for (const { id, copy, patterns, hasCheckpoints } of replicas) {
    const invariant =
      table > 0
        ? 'Replicas converge after a restore'
        : hasCheckpoints
          ? 'A checkpoint misses nothing'
          : 'Synchronized nodes agree';
    for (const key of new Set([...documents.keys(), ...copy.keys()])) {
      if (!matchesAny(patterns, key)) continue;
      const document = documents.get(key);
      const { revision, fields } = copy.get(key) ?? {};
      const isSame = document
        ? revision === document.revision && JSON.stringify(fields) === contentOf(document)
        : fields === null;
      must(isSame, invariant, `${key} on ${id} has revision ${revision}, not ${document?.revision}`);
    }
  }
}

function writeEventOf({ type, body }: StoredEvent): WriteEvent[] {
  const { data } = JSON.parse(body);
  if (!type.startsWith('document.') || data.marker !== undefined) return [];
  const changes: { field: string; new_value: unknown; origin: string }[] = data.changes ?? [];
  const set = { ...data.fields, ...Object.fromEntries(changes.map(({ field, new_value }) => [field, new_value])) };
  return [
    { type, key: data.document_key, revision: data.revision, origin: data.origin ?? changes[0]?.origin ?? '', set },
  ];
}

/** The fields after some writes. */
function foldedOf(writes: readonly WriteEvent[]): string {
  const folded = new Map<string, unknown>();
  for (const { type, set } of writes) {
    if (type !== 'document.changed') folded.clear();
    for (const [field, value] of Object.entries(set)) {
      if (value === null) folded.delete(field);
      else folded.set(field, value);
    }
  }
  return sortedOf(JSON.stringify(Object.fromEntries(folded)));
}

const sortedOf = (content: string): string =>
  JSON.stringify(Object.entries(JSON.parse(content) ?? {}).sort(([a], [b]) => (a < b ? -1 : 1)));
