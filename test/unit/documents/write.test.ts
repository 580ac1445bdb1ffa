import { describe, expect, it } from 'vitest';
import type { Item } from '../../../lib/aws/items.ts';
import type { DocumentState } from '../../../lib/documents/document.ts';
import type { Write } from '../../../lib/documents/merge.ts';
import { writeDocument } from '../../../lib/documents/store.ts';
import type { StoredEvent } from '../../../lib/events/event.ts';
import { toStoredEvent } from '../../../lib/events/store.ts';
import { memoryBackend } from '../../support/memory-table.ts';

const space = { projectId: 'prj_1', environment: 'live' } as const;
const now = Date.UTC(2026, 0, 31, 12);
const put = (fields: Write['fields'], baseRevision?: number): Write => ({
  op: 'put',
  documentKey: 'a',
  fields,
  baseRevision,
  onConflict: 'last_write_wins',
  origin: 'n',
  syncId: null,
});

function createDocuments() {
  const saves: { before: number; events: readonly StoredEvent[] }[] = [];
  const backend = memoryBackend({ clock: () => now }, ({ name, input }) => {
    if (name !== 'TransactWrite') return undefined;
    const [document, , ...events] = input.TransactItems.map(({ Put }: { Put: { Item: Item } }) => Put.Item);
    saves.push({ before: document.revision - 1, events: events.map(toStoredEvent) });
    return undefined;
  });
  const write = <Refused>(
    what: Write,
    admit: (current: DocumentState | undefined) => Refused | undefined = () => undefined,
  ) => writeDocument(backend, space, what, admit);
  return { write, saves };
}

describe('a write of a document', () => {
  it('is saved with its events, after the revision that was read', async () => {
    const { write, saves } = createDocuments();
    expect(await write(put({ a: 1 }))).toMatchObject({ outcome: 'changed', created: true });
    expect(await write(put({ a: 2 }))).toMatchObject({ outcome: 'changed', created: false });
    expect(saves.map(({ before, events }) => [before, ...events.map(({ type }) => type)])).toEqual([
      [0, 'document.created'],
      [1, 'document.changed'],
    ]);
    const [event] = saves[0]?.events ?? [];
    expect(event).toMatchObject({ ...space, at: now, type: 'document.created', documentKey: 'a' });
    expect(event?.id).toMatch(/^evt_/);
    expect(JSON.parse(event?.body ?? '')).toEqual({
      id: event?.id,
      type: 'document.created',
      timestamp: '2026-01-31T12:00:00.000Z',
      data: { document_key: 'a', revision: 1, fields: { a: 1 }, origin: 'n' },
    });
  });

  it('is not saved if it changes nothing', async () => {
    const { write, saves } = createDocuments();
    await write(put({ a: 1 }));
    expect(await write(put({ a: 1 }))).toMatchObject({ outcome: 'unchanged' });
    expect(saves).toHaveLength(1);
  });

  it('is rejected because of the stored document, and not saved', async () => {
    const { write, saves } = createDocuments();
    expect(await write(put({ a: 1 }), (current) => ({ refused: current }))).toEqual({ refused: undefined });
    expect(saves).toEqual([]);
    await write(put({ a: 1 }));
    expect(await write(put({ a: 2 }), (current) => current?.revision)).toBe(1);
    expect(saves).toHaveLength(1);
  });

  it('changes nothing if its events would be too large', async () => {
    const { write, saves } = createDocuments();
    await write(put({ text: 'x'.repeat(120_000) }));
    const long = { ...put({ text: '"'.repeat(60_000) }), origin: 'n'.repeat(64) };
    const wide = Object.fromEntries(Array.from({ length: 999 }, (_, i) => [`field-${i}`, 'y'.repeat(100)]));
    expect(await write(long)).toMatchObject({ outcome: 'changed' });
    expect(await write({ ...put(wide), origin: 'n'.repeat(64) })).toEqual({ outcome: 'events_too_large' });
    const conflicting = put({ ...wide, text: 'one event is too large, the other is not' }, 1);
    expect(await write({ ...conflicting, origin: 'n'.repeat(64) })).toEqual({ outcome: 'events_too_large' });
    expect(saves).toHaveLength(2);
  });
});
