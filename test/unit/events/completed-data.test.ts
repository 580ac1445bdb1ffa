import { expect, it } from 'vitest';
import { completed } from '../../../lib/events/completed-data.ts';
import type { EventType } from '../../../lib/events/types.ts';
import type { Json } from '../../../lib/json.ts';

type Data = { [member: string]: Json };

it.each<[EventType, Data, Data]>([
  ['document.changed', { changes: [{ field: 'a' }] }, { changes: [{ field: 'a', old_value: null, new_value: null }] }],
  ['document.changed', { changes: [{ old_value: 1, new_value: 2 }] }, { changes: [{ old_value: 1, new_value: 2 }] }],
  ['sync.conflict', {}, { sync_id: null }],
  ['sync.conflict', { sync_id: 'syn_1' }, { sync_id: 'syn_1' }],
  [
    'sync.conflict',
    { sync_id: null, conflicts: [{ winner: { origin: 'a' }, loser: { value: 1 } }] },
    { sync_id: null, conflicts: [{ winner: { origin: 'a', value: null }, loser: { value: 1 } }] },
  ],
  ['sync.completed', { patterns: ['a'], pushed: null, pulled: null }, { pattern: null, patterns: ['a'] }],
  ['sync.completed', { pattern: 'a', patterns: null, conflicts: null }, { pattern: 'a' }],
  ['connection.lost', { document_key: null, user: null, node_id: 'n' }, { node_id: 'n' }],
  ['connection.lost', { document_key: 'd', user: 'u', other: null }, { document_key: 'd', user: 'u', other: null }],
  ['document.created', { fields: { a: null } }, { fields: { a: null } }],
])('the data of %s are completed: %j', (type, published, expected) => {
  expect(completed(type, published)).toEqual(expected);
});

it.each<[EventType, Data]>([
  ['document.changed', {}],
  ['document.changed', { changes: null }],
  ['document.changed', { changes: { field: 'a' } }],
  ['document.changed', { changes: [null, 1, 'text', []] }],
  ['sync.conflict', { sync_id: 1, conflicts: [null, { winner: null, loser: 1 }] }],
])('data of %s with another shape are left to the validation: %j', (type, published) => {
  expect(completed(type, published)).toEqual(published);
});

it('complete data keep the order of their members, so that an event has the bytes that were published', () => {
  const change = '{"origin":"n","new_value":{"b":1,"a":2},"old_value":null,"field":"a"}';
  const data = `{"revision":2,"changes":[${change}],"document_key":"d"}`;
  expect(JSON.stringify(completed('document.changed', JSON.parse(data)))).toBe(data);
});
