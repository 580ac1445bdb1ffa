import { describe, expect, it } from 'vitest';
import { MAX_KNOWN, MAX_PUSHES, SyncRequest } from '../../../lib/documents/sync.ts';
import { check } from '../../../lib/schema.ts';
import { violationsOf } from '../../support/violations.ts';

const request = { node_id: 'n', pattern: 'org:*', push: [], known: {} };
const of = (members: object) => violationsOf(SyncRequest, { ...request, ...members });
const push = { op: 'patch', document_key: 'a:b', base_revision: 0, fields: {} };
const pushed = (members: object) => of({ push: [{ ...push, ...members }] });

describe('a request to synchronize', () => {
  it('accepts an id, a cursor and a limit, by default 50', () => {
    expect(of({ sync_id: 'A-z_0', cursor: 'c', limit: 1 })).toEqual([]);
    expect(check(SyncRequest, request)).toEqual({ value: { ...request, known: new Map(), limit: 50 } });
    const id = 'sync_id must be 1 to 64 of A-Z a-z 0-9 _ -';
    for (const sync_id of ['', 'x'.repeat(65), 'a:b', 'a ']) expect(of({ sync_id })).toEqual([id]);
    expect(of({ sync_id: 'x'.repeat(64) })).toEqual([]);
    expect(of({ sync_id: 1 })).toEqual(['sync_id must be a string']);
    expect(of({ cursor: 1 })).toEqual(['cursor must be a string']);
    expect(of({ limit: 100 })).toEqual([]);
    for (const limit of [0, 101]) expect(of({ limit })).toEqual(['limit must be an integer from 1 to 100']);
  });

  it('requires all other members and rejects unknown ones', () => {
    for (const member of Object.keys(request)) expect(of({ [member]: undefined })).toEqual([`${member} is required`]);
    expect(of({ pattern: '**' })).toHaveLength(1);
    expect(of({ node_id: '' })).toEqual(['node_id must not be empty']);
    expect(of({ more: 1 })).toEqual(['more is not a known field']);
  });

  it(`pushes at most ${MAX_PUSHES} changes`, () => {
    expect(of({ push: Array(MAX_PUSHES).fill(push) })).toEqual([]);
    expect(of({ push: Array(MAX_PUSHES + 1).fill(push) })).toEqual([`push must have at most ${MAX_PUSHES} entries`]);
    expect(of({ push: {} })).toEqual(['push must be an array']);
  });
});

describe('a push', () => {
  it.each(['put', 'patch'])('%s has fields', (op) => {
    expect(pushed({ op })).toEqual([]);
    expect(pushed({ op, fields: undefined })).toHaveLength(1);
  });

  it('has no fields for delete', () => {
    expect(pushed({ op: 'delete', fields: undefined })).toEqual([]);
    expect(pushed({ op: 'delete' })).toEqual([
      'push[0].fields is required for put and patch, and not allowed for delete',
    ]);
  });

  it('contains a document key, a base revision and a conflict rule, by default last_write_wins', () => {
    expect(pushed({ op: 'replace' })).toEqual(['push[0].op must be one of put, patch, delete']);
    expect(pushed({ document_key: 'a b' })).toHaveLength(1);
    const range = `must be an integer from 0 to ${Number.MAX_SAFE_INTEGER}`;
    expect(pushed({ base_revision: -1 })).toEqual([`push[0].base_revision ${range}`]);
    expect(pushed({ base_revision: undefined })).toEqual(['push[0].base_revision is required']);
    expect(pushed({ on_conflict: 'first' })).toEqual([
      'push[0].on_conflict must be one of last_write_wins, keep_server, reject',
    ]);
    const checked = check(SyncRequest, { ...request, push: [push] });
    expect(checked).toMatchObject({ value: { push: [{ on_conflict: 'last_write_wins' }] } });
  });
});

describe('the known revisions of a node', () => {
  it(`contain at most ${MAX_KNOWN} documents by their keys`, () => {
    const many = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, i) => [`d${i}`, i]));
    expect(of({ known: many(MAX_KNOWN) })).toEqual([]);
    expect(of({ known: many(MAX_KNOWN + 1) })).toEqual([`known must have at most ${MAX_KNOWN} members`]);
    expect(of({ known: [] })).toContain('known must be an object');
    const map = 'known must map document keys to revisions';
    for (const known of [{ 'a b': 1 }, { a: -1 }, { a: '1' }, { a: 1, b: 1.5 }]) expect(of({ known })).toEqual([map]);
    expect(check(SyncRequest, { ...request, known: { 'a:b': 3, c: 0 } })).toMatchObject({
      value: {
        known: new Map([
          ['a:b', 3],
          ['c', 0],
        ]),
      },
    });
  });
});
