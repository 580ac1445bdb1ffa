import { describe, expect, it } from 'vitest';
import {
  afterCyclePage,
  claimsName,
  completionData,
  cycleOwner,
  isRepeatable,
  newCycle,
} from '../../../lib/documents/cycle.ts';
import type { Caller } from '../../../lib/http/caller.ts';
import { DAY_MS, now } from '../../memory/contracts/builders.ts';

const key: Caller = { projectId: 'prj_1', keyId: 'key_1', type: 'live' };
const grant = { tokenId: 'tok_1', environment: 'live', documents: ['*'] } as const;
const token = (permissions: ('read' | 'write')[], user?: string): Caller => ({
  ...{ ...key, type: 'token', token: { ...grant, documents: ['*'], permissions, user } },
});

describe('a cycle', () => {
  it.each([
    ['a key', key, 'name', true],
    ['a key without a name', key, undefined, false],
    ['a read key', { ...key, type: 'read' } as const, 'name', false],
    ['a token with write', token(['write']), 'name', true],
    ['a token with read', token(['read']), 'name', false],
  ])('of %s claims its name: %s', (_, caller, name, expected) => {
    expect(claimsName(caller, name)).toBe(expected);
  });

  it('belongs to the key, or to the user of tokens of one key, and to the node', () => {
    const next = token(['write'], 'u');
    next.token = { ...next.token, tokenId: 'tok_2' } as NonNullable<Caller['token']>;
    expect(cycleOwner(next, 'n')).toBe(cycleOwner(token(['read'], 'u'), 'n'));
    const owners = [key, { ...key, keyId: 'key_2' }, token(['write']), token(['write'], 'u'), token(['write'], 'v')];
    const named = [...owners.map((owner) => cycleOwner(owner, 'n')), cycleOwner(key, 'm')];
    expect(new Set(named).size).toBe(named.length);
  });

  it.each([
    ['its owner within a day', 'me', now - DAY_MS + 1, true],
    ['its owner after a day', 'me', now - DAY_MS, false],
    ['another owner', 'you', now, false],
  ])('can be repeated by %s: %s', (_, owner, namedAt, expected) => {
    expect(isRepeatable({ owner: 'me', namedAt }, owner, now)).toBe(expected);
  });
});

const name = { syncId: 'syn_1', namedAt: now, epoch: 0 };
const conflict = { field: 'a', winner: { origin: 'n', revision: 1 }, loser: { origin: 'm', revision: 1 } };
const results = [
  { status: 'applied', conflicts: [] },
  { status: 'merged', conflicts: [conflict, conflict] },
  { status: 'unchanged', conflicts: [conflict] },
  { status: 'rejected', conflicts: [] },
] as const;
const page = { results: results.map((each) => ({ ...each, conflicts: [...each.conflicts] })), changes: ['a', 'b'] };

it('a page counts the pushes that changed a document, the documents that it returned, and all conflicts', () => {
  const first = afterCyclePage(newCycle(name, now, undefined), { ...page, walked: 5, next: 'place' });
  const expected = { page: 1, pushed: 2, pulled: 2, conflicts: 3, walked: 5, after: 'place' };
  expect(first).toMatchObject({ ...name, ...expected });
  const last = afterCyclePage(first, { ...page, walked: 1, next: undefined });
  expect(last).toMatchObject({ page: 2, pushed: 4, pulled: 4, conflicts: 6, walked: 6, after: undefined });
});

it.each([
  [{ pattern: 'a:*' }, { pattern: 'a:*' }],
  [{ patterns: ['a:*'] }, { pattern: 'a:*', patterns: ['a:*'] }],
  [{ patterns: ['a:*', 'b'] }, { pattern: null, patterns: ['a:*', 'b'] }],
])('the event of a completed cycle with %j contains %j', (asked, expected) => {
  const data = completionData(newCycle(name, now, undefined), { node_id: 'n', ...asked }, now + 1);
  const times = { started_at: new Date(now).toISOString(), completed_at: new Date(now + 1).toISOString() };
  const counts = { pushed: 0, pulled: 0, conflicts: 0 };
  expect(data).toEqual({ sync_id: 'syn_1', node_id: 'n', ...counts, ...times, ...expected });
});
