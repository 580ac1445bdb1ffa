import { expect, it } from 'vitest';
import { SyncRequest } from '../../../lib/documents/sync.ts';
import { check } from '../../../lib/schema.ts';
import { violationsOf } from '../../support/violations.ts';

const push = { op: 'patch', document_key: 'a:b', base_revision: 0, fields: {} };
const request = { node_id: 'n', pattern: 'org:*', push: [push], known: { 'a:b': 3 } };

it('has a limit of 50, last_write_wins for each push, and a map of known revisions by default', () => {
  const defaults = { limit: 50, push: [{ ...push, on_conflict: 'last_write_wins' }] };
  expect(check(SyncRequest, request)).toEqual({ value: { ...request, ...defaults, known: new Map([['a:b', 3]]) } });
});

it('names the fields of a push that must not have them', () => {
  expect(violationsOf(SyncRequest, { ...request, push: [{ ...push, op: 'delete' }] })).toEqual([
    'push[0].fields is required for put and patch, and not allowed for delete',
  ]);
});
