import { describe, expect, it } from 'vitest';
import { sampleData } from '../../../lib/events/data.ts';
import {
  batchViolations,
  eventWithId,
  isTooLarge,
  MAX_BATCH,
  occurredViolations,
  PublishEvent,
} from '../../../lib/events/event.ts';
import { EVENT_TYPES, type EventType } from '../../../lib/events/types.ts';
import type { Json } from '../../../lib/json.ts';
import { CHARACTERS, LONE_SURROGATES } from '../../support/adversarial.ts';
import { violationsOf } from '../../support/violations.ts';

const at = Date.UTC(2026, 0, 31, 12);
const sample = (type: EventType) => sampleData(type, at) as { [member: string]: Json };

/** Returns the violations of a sample event with changed members. */
function violations(type: EventType, members: object): string[] {
  return violationsOf(PublishEvent, { type, data: { ...sample(type), ...members } });
}

describe('the time at which an event happened', () => {
  const DAY_MS = 24 * 60 * 60 * 1000;
  const MINUTE_MS = 60_000;
  const eventOf = (occurredAt: number) => ({ occurred_at: new Date(occurredAt).toISOString() });
  const wrong = 'must be at most 30 days ago, and not in the future';

  it.each([
    ['now', at, true],
    ['30 days ago', at - 30 * DAY_MS, true],
    ['earlier than 30 days ago', at - 30 * DAY_MS - 1, false],
    ['5 minutes ahead, as by the clock of the publisher', at + 5 * MINUTE_MS, true],
    ['more than 5 minutes ahead', at + 5 * MINUTE_MS + 1, false],
  ])('can be %s: %d is %s', (_, occurredAt, isValid) => {
    const expected = isValid ? [] : [{ field: 'occurred_at', detail: wrong }];
    expect(occurredViolations(eventOf(occurredAt), at)).toEqual(expected);
  });

  it.each([
    [{}],
    [{ occurred_at: null }],
    [{ occurred_at: 'never' }],
    ['text'],
    [null],
  ])('is left to the schema in %j', (event) => {
    expect(occurredViolations(event, at)).toEqual([]);
    expect(batchViolations({ events: [event] }, at)).toEqual([]);
  });

  it('is checked for each event of a batch, and for no event beyond its maximum', () => {
    const events = [eventOf(0), eventOf(at), ...Array.from({ length: MAX_BATCH }, () => eventOf(0))];
    const fields = batchViolations({ events }, at).map(({ field }) => field);
    expect(fields.slice(0, 2)).toEqual(['events[0].occurred_at', 'events[2].occurred_at']);
    expect(fields.at(-1)).toBe(`events[${MAX_BATCH - 1}].occurred_at`);
    for (const json of [null, [], { events: 'text' }]) expect(batchViolations(json, at)).toEqual([]);
  });
});

/** The members that a publisher can omit. */
const OPTIONAL: Partial<Record<EventType, string[]>> = {
  'connection.lost': ['document_key', 'user'],
  'sync.completed': ['pushed', 'pulled', 'conflicts'],
};
/** The members that the service completes with `null`. */
const COMPLETED: Partial<Record<EventType, string[]>> = { 'sync.conflict': ['sync_id'], 'sync.completed': ['pattern'] };
const MAX = Number.MAX_SAFE_INTEGER;
const integers = (min: number) => ({
  valid: [min, MAX],
  invalid: { [`must be an integer from ${min} to ${MAX}`]: [min - 1, MAX + 1, 1.5, '1', null] },
});
const RULES = {
  text: {
    valid: [CHARACTERS.join(''), 'x'.repeat(1000)],
    invalid: {
      'must be a string': [1, null],
      'must not be empty': [''],
      'must not contain lone surrogates': LONE_SURROGATES,
    },
  },
  documentKey: {
    valid: [
      'a',
      'org:acme:~2F.b@c_d-1',
      `${'a'.repeat(63)}:`.repeat(7) + 'a'.repeat(64),
      Array(16).fill('a').join(':'),
    ],
    invalid: {
      'must be a string': [1, null],
      'must be 1 to 16 segments of A-Z a-z 0-9 . _ ~ @ - joined by ":", and not "." or ".."': [
        ...['', 'w:a b', 'w:é', 'w::x', 'w:', 'w:*', '*', '.', '..', 'a'.repeat(65), Array(17).fill('a').join(':')],
        ...[`${'a'.repeat(64)}:`.repeat(7) + 'a'.repeat(58), 'x'.repeat(513), ...LONE_SURROGATES],
      ],
    },
  },
  time: {
    valid: ['1970-01-01T00:00:00Z'],
    invalid: {
      'must be an RFC 3339 date-time from 1970 to 9999 in UTC, such as 2026-01-31T12:00:00.000Z': [
        'yesterday',
        '',
        1,
        null,
      ],
    },
  },
  revision: integers(1),
  count: integers(0),
  idOrNull: { valid: ['syn_1', null], invalid: { 'must be a string or null': [1] } },
  textOrNull: { valid: ['n', null], invalid: { 'must be a string': [1], 'must not be empty': [''] } },
  object: { valid: [{}, { '': [null] }], invalid: { 'must be an object': [[], 'x', null] } },
  list: { valid: [], invalid: { 'must be an array': [{}, 'x', null] } },
};
function ruleOf(type: EventType, member: string, value: unknown): keyof typeof RULES {
  if (member === 'sync_id' && type === 'sync.conflict') return 'idOrNull';
  if (member === 'pattern') return 'textOrNull';
  if (member === 'document_key') return 'documentKey';
  if (typeof value === 'number') return member === 'revision' ? 'revision' : 'count';
  if (typeof value === 'string') return member.endsWith('_at') ? 'time' : 'text';
  return Array.isArray(value) ? 'list' : 'object';
}

describe.each(EVENT_TYPES)('an event of type %s', (type) => {
  it('is valid like its sample, with additional members', () => {
    expect(violations(type, { more: { of: ['this', null] } })).toEqual([]);
  });

  it('has different times in its sample, in their order', () => {
    const times = Object.entries(sample(type)).flatMap(([member, time]) => (member.endsWith('_at') ? [time] : []));
    expect(times).toEqual([...new Set(times)].sort());
  });

  it('requires every member that is not optional', () => {
    for (const member of Object.keys(sample(type))) {
      const { data } = JSON.parse(JSON.stringify({ data: { ...sample(type), [member]: undefined } }));
      const isOptional = [...(OPTIONAL[type] ?? []), ...(COMPLETED[type] ?? [])].includes(member);
      expect(violationsOf(PublishEvent, { type, data })).toEqual(isOptional ? [] : [`data.${member} is required`]);
    }
  });

  it('requires non-empty texts, counts from 0, revisions from 1, times, objects and lists', () => {
    for (const [member, value] of Object.entries(sample(type))) {
      const rule = ruleOf(type, member, value);
      for (const each of RULES[rule].valid) expect(violations(type, { [member]: each })).toEqual([]);
      for (const [detail, values] of Object.entries(RULES[rule].invalid))
        for (const each of values.filter((value) => value !== null || !OPTIONAL[type]?.includes(member)))
          expect(violations(type, { [member]: each })).toEqual([`data.${member} ${detail}`]);
    }
  });
});

describe('the changes of a document.changed', () => {
  const [change] = (sample('document.changed').changes ?? []) as [{ [member: string]: Json }];
  const of = (...changes: unknown[]) => violations('document.changed', { changes });

  it('have at least one entry', () => {
    expect(of()).toEqual(['data.changes must have at least 1 entry']);
    expect(of(change, change)).toEqual([]);
  });

  it('contain the field, both values or null, and the origin', () => {
    expect(of({ ...change, old_value: null, new_value: null, field: '', more: 1 })).toEqual([]);
    for (const any of ['AQ==', [1], { ops: [] }, null, false])
      expect(of({ ...change, old_value: any, new_value: any, delta: any })).toEqual([]);
    for (const member of ['field', 'origin'])
      expect(of(change, { ...change, [member]: undefined })).toEqual([`data.changes[1].${member} is required`]);
    for (const member of ['old_value', 'new_value']) expect(of({ ...change, [member]: undefined })).toEqual([]); // null
    expect(of({ ...change, origin: '' })).toEqual(['data.changes[0].origin must not be empty']);
  });
});

describe('the conflicts of a sync.conflict', () => {
  const [conflict] = (sample('sync.conflict').conflicts ?? []) as [{ winner: object; loser: object }];
  const of = (...conflicts: unknown[]) => violations('sync.conflict', { conflicts });

  it('have at least one entry, with the field', () => {
    expect(of()).toEqual(['data.conflicts must have at least 1 entry']);
    expect(of({ ...conflict, field: undefined })).toEqual(['data.conflicts[0].field is required']);
  });

  it.each(['winner', 'loser'] as const)('have a %s with value, origin and revision', (side) => {
    const place = `data.conflicts[0].${side}`;
    const withSide = (members: object) => of({ ...conflict, [side]: { ...conflict[side], ...members } });
    expect(of({ ...conflict, [side]: undefined })).toEqual([`${place} is required`]);
    expect(of({ ...conflict, [side]: 'x' })).toEqual([`${place} must be an object`]);
    expect(withSide({ value: null, revision: 0, more: 1 })).toEqual([]);
    expect(withSide({ value: undefined })).toEqual([]); // null
    expect(withSide({ origin: '' })).toEqual([`${place}.origin must not be empty`]);
    expect(withSide({ revision: -1 })).toEqual([`${place}.revision must be an integer from 0 to ${MAX}`]);
  });
});

describe('a request to publish', () => {
  const of = (body: unknown) => violationsOf(PublishEvent, body);
  const event = { type: 'document.deleted', data: sample('document.deleted') };

  it('requires a known type and an object as data, and rejects other members', () => {
    expect(of(event)).toEqual([]);
    expect(of({ ...event, type: 'document.renamed' })).toEqual([`type must be one of ${EVENT_TYPES.join(', ')}`]);
    expect(of({ ...event, data: [] })).toEqual(['data must be an object']);
    expect(of({ ...event, id: 'evt_1' })).toEqual(['id is not a known field']);
  });
});

describe('a new event', () => {
  const event = { projectId: 'prj_1', environment: 'live', id: 'evt_1', at, type: 'document.deleted' } as const;

  it('contains its members in order, its document, and the given data', () => {
    const data = { document_key: 'a:b', revision: 3, origin: 'n' };
    expect(eventWithId({ ...event, data, webhookId: 'whk_1' })).toEqual({
      ...event,
      webhookId: 'whk_1',
      documentKey: 'a:b',
      body: '{"id":"evt_1","type":"document.deleted","timestamp":"2026-01-31T12:00:00.000Z","data":{"document_key":"a:b","revision":3,"origin":"n"}}',
    });
    expect(eventWithId({ ...event, data: { sync_id: 's' } })).not.toHaveProperty('documentKey');
  });

  it('is too large over 256 KB in bytes', () => {
    expect(isTooLarge({ body: 'é'.repeat(131_072) })).toBe(false);
    expect(isTooLarge({ body: `${'é'.repeat(131_072)}x` })).toBe(true);
  });
});
