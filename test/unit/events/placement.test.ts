import { randomBytes } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { LOG_PARTITIONS, logPartitionOf, logPartitions } from '../../../lib/aws/items.ts';
import { MAX_BATCH } from '../../../lib/events/event.ts';
import {
  documentKeyIn,
  EVENT_PARTITIONS,
  newEventId,
  partitionOf,
  partitionsOf,
} from '../../../lib/events/placement.ts';
import { EVENT_TYPES, type EventType } from '../../../lib/events/types.ts';
import { idOf, sortableId } from '../../../lib/ids.ts';
import { check } from '../../../lib/schema.ts';

const at = Date.parse('2026-01-31T12:00:00.000Z');
const idFor = (type: EventType, document_key?: string, place = 0) =>
  newEventId(type, { document_key }, at, randomBytes, place);

describe('the id of an event', () => {
  it.each(EVENT_TYPES)('has the format of every id and belongs to a listed partition, for type %s', (type) => {
    for (const documentKey of ['a', 'org:acme:doc-1', undefined]) {
      const id = idFor(type, documentKey);
      expect(check(idOf('evt'), id)).toEqual({ value: id });
      expect(partitionsOf([type], documentKey)).toContain(partitionOf(id));
      expect(partitionsOf(EVENT_TYPES, documentKey)).toContain(partitionOf(id));
    }
  });

  it('sorts by time for any type and document', () => {
    const ids = Array.from({ length: 60 }, (_, i) =>
      newEventId(EVENT_TYPES[i % 6] ?? 'sync.conflict', { document_key: `d${i}` }, at + i, randomBytes),
    );
    expect([...ids].sort()).toEqual(ids);
  });
});

describe('the ids of a batch', () => {
  it('sort by place, for any types and documents', () => {
    const ids = Array.from({ length: MAX_BATCH }, (_, i) =>
      idFor(EVENT_TYPES[(5 * i) % 6] ?? 'sync.conflict', `d${i % 7}`, i),
    );
    expect([...ids].sort()).toEqual(ids);
    for (const [i, id] of ids.entries()) {
      expect(check(idOf('evt'), id)).toEqual({ value: id });
      expect(partitionsOf(EVENT_TYPES, `d${i % 7}`)).toContain(partitionOf(id));
    }
  });

  it('end with 60 random bits each', () => {
    const endings = Array.from({ length: 1000 }, (_, i) => idFor('document.changed', 'a', i % 2).slice(-12));
    expect(new Set(endings).size).toBe(1000);
    expect(new Set(endings.map((ending) => ending[0])).size).toBe(32);
  });

  it.each<[EventType, EventType]>([
    ['document.created', 'sync.conflict'],
    ['document.changed', 'sync.conflict'],
    ['document.deleted', 'sync.conflict'],
  ])('of one write sort %s before %s', (first, second) => {
    for (let i = 0; i < 20; i++) expect(idFor(first, `d${i}`) < idFor(second, `d${i}`)).toBe(true);
  });
});

describe('the partitions of a space', () => {
  // Stored events keep the digit of the release that wrote them.
  it.each([
    ['document.created', '0'],
    ['document.changed', '1'],
    ['document.deleted', '2'],
    ['sync.conflict', '3'],
    ['sync.completed', '4'],
    ['connection.lost', '5'],
  ] as const)('begin with the same digit in every release for %s', (type, digit) => {
    const digits = new Set(partitionsOf([type], undefined).map((partition) => partition[0]));
    expect([...digits]).toEqual([digit]);
  });

  it('share its events, so that each type uses all twelve', () => {
    const many = Array.from({ length: 400 }, (_, i) => i);
    expect(new Set(many.map((i) => partitionOf(idFor('document.changed', `org:acme:${i}`)))).size).toBe(
      EVENT_PARTITIONS,
    );
    expect(new Set(many.map(() => partitionOf(idFor('connection.lost')))).size).toBe(EVENT_PARTITIONS);
    expect(new Set(partitionsOf(EVENT_TYPES, undefined)).size).toBe(6 * EVENT_PARTITIONS);
  });

  it('contain the events of one document and type in one partition', () => {
    expect(new Set(Array.from({ length: 20 }, () => partitionOf(idFor('document.changed', 'a:b')))).size).toBe(1);
    const partitions = ['a:b', 'A:b'].map((key) => partitionsOf(['document.changed'], key));
    expect(partitions).toEqual([['1A'], ['14']]); // in every release
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
