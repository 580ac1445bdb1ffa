import { describe, expect, it } from 'vitest';
import { afterPass, type DeletionRecord, isOwned, SETTLE_MS, waitsUntil } from '../../../lib/projects/deletion.ts';

const now = Date.UTC(2026, 0, 31, 12);
const deletion = (overrides: Partial<DeletionRecord> = {}): DeletionRecord => ({
  projectId: 'prj_1',
  startedAt: now,
  webhooks: ['whk_1'],
  step: 1,
  removedInPass: 0,
  removed: 0,
  read: 0,
  ...overrides,
});

describe('an item', () => {
  it.each([
    ['PROJECT#prj_1', true],
    ['HOOKS#prj_1#sandbox', true],
    ['HOOK#whk_1#0', true],
    ['PROJECT#prj_12', false],
    ['HOOK#whk_12#0', false],
    ['HOOK#prj_1#0', false],
    ['AUDIT#whk_1', false],
    ['DELETION#prj_1', false],
    ['VERSION#LAYOUT', false],
    ['KEY#prj_1', false],
  ])('with the partition key %s belongs to the project: %s', (pk, expected) => {
    expect(isOwned(pk, 'prj_1', new Set(['whk_1']))).toBe(expected);
  });
});

describe('a pass', () => {
  const late = now + SETTLE_MS;

  it.each<[string, Partial<DeletionRecord>, boolean]>([
    ['that found nothing after all other writers', { passAt: late }, true],
    ['that found an item', { passAt: late, removedInPass: 1 }, false],
    ['that started while others could write', { passAt: late - 1 }, false],
  ])('%s proves the deletion: %s', (_, overrides, isProof) => {
    const after = afterPass(deletion(overrides), late + 1);
    expect(after.completedAt).toBe(isProof ? late + 1 : undefined);
    expect(after).toMatchObject({ passAt: undefined, after: undefined, removedInPass: 0, read: 0 });
  });

  it.each<[string, Partial<DeletionRecord>, number, number | undefined]>([
    ['the first pass', { step: 0 }, now, undefined],
    ['a pass that was interrupted', { passAt: now }, now, undefined],
    ['the second pass', {}, now, late],
    ['the second pass after that time', {}, late, undefined],
    ['a deletion that is complete', { completedAt: now }, now, undefined],
  ])('of %s waits', (_, overrides, at, expected) => {
    expect(waitsUntil(deletion(overrides), at)).toBe(expected);
  });
});
