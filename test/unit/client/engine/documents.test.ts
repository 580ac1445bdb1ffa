import { DatabaseSync } from 'node:sqlite';
import { expect, it } from 'vitest';
import { documentPublisher, documentStore } from '../../../../lib/client/engine/documents.ts';
import type { NewEvent, Publisher } from '../../../../lib/client/publisher-types.ts';
import type { Database } from '../../../../lib/client/sqlite.ts';

it('lets one event of a document wait for a full outbox, and then publishes the newest version', async () => {
  const room = Promise.withResolvers<void>();
  const events: NewEvent[] = [];
  let calls = 0;
  const publisher = {
    async publish(event, store = (add) => add()) {
      calls++;
      await room.promise;
      await store(() => void events.push(event));
    },
  } as Publisher;
  const store = documentStore(new DatabaseSync(':memory:') as unknown as Database);
  const documents = documentPublisher({ store, publisher, origin: 'engine', log: () => {} });
  const saved = Array.from({ length: 100 }, (_, n) => documents.saved('org:a', { n }));
  const other = documents.saved('org:b', { n: 0 });
  await new Promise(setImmediate);
  for (let n = 100; n < 200; n++) saved.push(documents.saved('org:a', { n }));
  await new Promise(setImmediate);
  expect(calls).toBe(2);
  room.resolve();
  await Promise.all([...saved, other]);
  expect(events.map(({ data }) => data)).toEqual([
    { document_key: 'org:a', revision: 1, fields: { n: 99 }, origin: 'engine' },
    { document_key: 'org:b', revision: 1, fields: { n: 0 }, origin: 'engine' },
    {
      document_key: 'org:a',
      revision: 2,
      changes: [{ field: 'n', old_value: 99, new_value: 199, origin: 'engine' }],
    },
  ]);
  expect(store.get('org:a')).toEqual({ revision: 2, fields: { n: 199 } });
});

it('stores no version of a document without its event', () => {
  const store = documentStore(new DatabaseSync(':memory:') as unknown as Database);
  const failing = () => {
    throw new Error('full');
  };
  expect(() => store.put('org:a', { revision: 1, fields: { n: 1 } }, failing)).toThrow('full');
  expect(store.get('org:a')).toEqual({ revision: 0, fields: null });
  store.put('org:a', { revision: 1, fields: { n: 2 } }, () => {});
  expect(store.get('org:a')).toEqual({ revision: 1, fields: { n: 2 } });
});
