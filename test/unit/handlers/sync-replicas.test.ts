import { beforeEach, describe, expect, it } from 'vitest';
import { itemKey } from '../../../lib/aws/items.ts';
import { OVERLAP_MS, READABLE_MS } from '../../../lib/documents/change-log.ts';
import { changesOf, checkpointOf, put, resumeSync, sync } from '../../support/documents.ts';
import { memoryService } from '../../support/memory-service.ts';
import { isRead } from '../../support/runtime.ts';
import type { Answer, Client } from '../../support/service.ts';

const service = memoryService();
let project: Awaited<ReturnType<typeof service.project>>;
let client: Client;

beforeEach(async () => {
  project = await service.project();
  client = await project.client('live');
});

const resume = (since: string, more: object = {}) => resumeSync(client, since, more);

/** Stores documents and their revisions without a request for each. */
function store(count: number): string[] {
  const space = { projectId: project.id, environment: 'live' } as const;
  const keys = Array.from({ length: count }, (_, i) => `many:${String(i).padStart(5, '0')}`);
  const state = { revision: 1, deleted: false, floor: [0, ''], createdAt: 0, updatedAt: 0 };
  service.db.put(
    keys.flatMap((key) => [
      { ...itemKey.document(space, key), ...state, fields: '{}', marks: '{}' },
      { ...itemKey.revision(space, key), revision: 1, updatedAt: 0 },
    ]),
  );
  return keys;
}

/** Runs all pages of a first cycle over many documents. */
async function replicated(): Promise<string> {
  for (let cursor: string | undefined; ; ) {
    const { body } = await sync(client, { pattern: 'many:*', known: undefined, limit: 100, cursor });
    if (!body.has_more) return body.checkpoint;
    cursor = body.cursor;
  }
}

describe('a replica of many documents', () => {
  /** A cycle after a checkpoint, with the number of its reads and of the items that they returned. */
  async function measured(since: string) {
    let [commands, items] = [0, 0];
    service.faults.around = async ({ name }, act) => {
      const result = (await act()) as { Items?: object[]; Responses?: Record<string, object[]> };
      if (isRead(name)) commands++;
      items += (result.Items ?? Object.values(result.Responses ?? {}).flat()).length;
      return result;
    };
    const answer = await resume(since, { pattern: 'many:*' });
    delete service.faults.around;
    return { answer, reads: { commands, items } };
  }

  it('receives less than 1 KB if it is up to date, and its cycle reads as much for any number of documents', async () => {
    store(1500);
    let since = await replicated();
    const reads = [];
    for (const count of [1500, 10_000]) {
      store(count); // without a change, as those of a first cycle
      const { answer, reads: own } = await measured(since);
      expect(answer.body).toMatchObject({ changes: [], has_more: false });
      expect(Buffer.byteLength(answer.text)).toBeLessThan(1024);
      reads.push(own);
      since = checkpointOf(answer);
    }
    expect(reads[1]).toEqual(reads[0]);
    expect(reads[0]?.items).toBe(0);
  });

  it('receives each of ten changes, and the cycle reads no other document', async () => {
    const keys = store(2000).filter((_, i) => i % 200 === 7);
    const since = await replicated();
    for (const key of keys) await put(client, key, { n: 1 });
    for (let i = 0; i < 5; i++) await put(client, `other:${i}`, {});
    const { answer, reads } = await measured(since);
    expect(changesOf(answer).sort()).toEqual(keys.map((key) => `${key} 2`));
    expect(reads.items).toBe(25); // the entries of the log, and the documents
  });

  it('receives every change, however old its checkpoint is and however long its cycle takes', async () => {
    store(1500);
    const since = await replicated();
    await put(client, 'many:00003', { n: 1 });
    await put(client, 'many:00004', { n: 1 });
    const expected = ['many:00003 2', 'many:00004 2'];
    await service.clock.advance(READABLE_MS - 2 * OVERLAP_MS);
    const first = (await resume(since, { pattern: 'many:*', limit: 1 })).body;
    expect(first.has_more).toBe(true);
    for (const days of [1, 8]) {
      await service.clock.advance(days * 24 * 60 * 60 * 1000);
      removeExpired();
      const found = new Set<string>(changesOf({ body: first } as Answer));
      for (let { cursor } = first; cursor; ) {
        const page = await sync(client, { pattern: 'many:*', known: undefined, cursor });
        for (const change of changesOf(page)) found.add(change);
        cursor = page.body.cursor;
      }
      expect([...found].sort()).toEqual(expected);
      expect(changesOf(await resume(since, { pattern: 'many:*' }))).toEqual(expected);
    }
  });

  /** Removes what the table removes at its time to live. */
  function removeExpired() {
    for (const { pk, sk, expires } of [...service.db.items()])
      if (Number(expires) * 1000 < service.clock.now())
        service.db.execute({ name: 'Delete', input: { TableName: 'table', Key: { pk, sk } } });
  }
});
