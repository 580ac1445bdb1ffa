import { randomBytes } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { LOG_PARTITIONS, logPartitionOf, logPartitions } from '../../../lib/aws/items.ts';
import { MAX_BATCH } from '../../../lib/events/event.ts';
import {
  documentKeyIn,
  followersIn,
  followersText,
  newEventIds,
  partitionOf,
  partitionOfDocument,
  withFollowers,
} from '../../../lib/events/placement.ts';
import type { EventType } from '../../../lib/events/types.ts';
import { idOf, sortableId } from '../../../lib/ids.ts';
import { check } from '../../../lib/schema.ts';

const at = Date.parse('2026-01-31T12:00:00.000Z');
const idsOf = (documentKeys: readonly (string | undefined)[], atMs = at) =>
  newEventIds(
    documentKeys.map((document_key) => ({ document_key })),
    atMs,
    randomBytes,
  );

describe('the ids of a publication', () => {
  const keys = Array.from({ length: MAX_BATCH }, (_, i) => (i % 9 === 8 ? undefined : `org:acme:doc-${i % 7}`));

  it('have the format of every id, and sort by place', () => {
    const ids = idsOf(keys);
    for (const id of ids) expect(check(idOf('evt'), id)).toEqual({ value: id });
    expect(ids.toSorted()).toEqual(ids);
  });

  it('sort by time', () => {
    const ids = Array.from({ length: 60 }, (_, i) => idsOf(keys, at + i)).flat();
    expect(ids.toSorted()).toEqual(ids);
  });

  it('follow each other, also among publications of the same millisecond', () => {
    const publications = Array.from({ length: 20 }, () => idsOf(keys));
    const sorted = publications.toSorted(([a = ''], [b = '']) => (a < b ? -1 : 1));
    expect(publications.flat().sort()).toEqual(sorted.flat());
  });

  it('contain 50 random bits that they share', () => {
    const parts = Array.from({ length: 1000 }, () => new Set(idsOf(['a', 'b']).map((id) => id.slice(14, 24))));
    expect(new Set(parts.map(({ size }) => size))).toEqual(new Set([1]));
    const random = parts.flatMap((part) => [...part]);
    expect(new Set(random).size).toBe(1000);
    for (let i = 0; i < 10; i++) expect(new Set(random.map((part) => part[i])).size).toBe(32);
  });
});

describe('the partition of an event', () => {
  it('is that of its document', () => {
    for (const key of ['a', 'A', 'org:acme:doc-1']) {
      const ids = Array.from({ length: 20 }, (_, i) => idsOf(['other', key], at + i)[1] ?? '');
      expect(new Set(ids.map(partitionOf))).toEqual(new Set([partitionOfDocument(key)]));
    }
  });

  it('is the same in every release', () => {
    expect(['a:b', 'A:b'].map(partitionOfDocument)).toEqual(['78RY', '7S8C']);
  });

  it('differs for nearly all documents, and for events without a document', () => {
    const many = Array.from({ length: 1000 }, (_, i) => i);
    expect(new Set(many.map((i) => partitionOfDocument(`org:acme:${i}`))).size).toBeGreaterThan(990);
    expect(new Set(many.map(() => partitionOf(idsOf([undefined])[0] ?? ''))).size).toBeGreaterThan(990);
    expect(new Set(idsOf(Array(100).fill(undefined)).map(partitionOf)).size).toBeGreaterThan(95);
  });
});

describe('the entries of a publication in lists', () => {
  const types = ['document.changed', 'sync.conflict', 'document.changed', 'document.changed'] as const;
  const publication = idsOf(['a:1', 'a:1', undefined, 'a:3']).map((id, i) => ({
    ...{ id, type: types[i] as EventType },
    documentKey: ['a:1', 'a:1', undefined, 'a:3'][i],
  }));
  const [first, conflict, ...others] = publication;
  const listed = (events: typeof others) => events.map(({ id, documentKey }) => ({ id, documentKey }));

  it('are the first events of each type', () => {
    expect(withFollowers(publication)).toEqual([
      { event: first, followers: others },
      { event: conflict, followers: [] },
      ...others.map((event) => ({ event, followers: undefined })),
    ]);
  });

  it('contain the ids and documents of the others', () => {
    const text = followersText(others);
    expect(text?.split(' ')).toHaveLength(2);
    expect(followersIn(first?.id ?? '', text)).toEqual(listed(others));
  });

  it('contain nothing if there are no others', () => {
    expect(followersText([])).toBeUndefined();
    expect(followersIn(first?.id ?? '', undefined)).toEqual([]);
  });
});

it('spreads deliveries of one millisecond evenly over the partitions of a log, each always in the same partition', () => {
  const ids = Array.from({ length: 1600 }, () => sortableId('evt', at, randomBytes));
  const counts = new Map(logPartitions().map((partition) => [partition, 0]));
  for (const id of ids) {
    const partition = logPartitionOf(id);
    expect(partition).toBe(logPartitionOf(id));
    counts.set(partition, (counts.get(partition) ?? Number.NaN) + 1);
  }
  expect(counts.size).toBe(LOG_PARTITIONS);
  // About a hundred each, within seven standard deviations.
  for (const count of counts.values()) expect(Math.abs(count - 100)).toBeLessThan(70);
});

describe('the document of an event', () => {
  it.each([
    [{ document_key: 'org:acme:doc-1' }, 'org:acme:doc-1'],
    [{ document_key: 'a'.repeat(65) }, undefined],
    [{ document_key: 'org:acme:doc 1' }, undefined],
    [{ document_key: 'org:*' }, undefined],
    [{ document_key: 7 }, undefined],
    [{ document_key: '' }, undefined],
    [{ document_key: 'a\ud800' }, undefined],
    [{}, undefined],
  ])('is found in %j', (data, documentKey) => {
    expect(documentKeyIn(data)).toBe(documentKey);
  });
});
