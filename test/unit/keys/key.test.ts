import { describe, expect, it } from 'vitest';
import { expiryViolations, isLastingAdmin, isNamedBy } from '../../../lib/keys/key.ts';
import { hashApiKey } from '../../../lib/keys/key-secret.ts';
import { newKey, now } from '../../memory/contracts/builders.ts';

describe('the expiry of a new key', () => {
  const iso = (ms: number) => new Date(ms).toISOString();
  it.each([
    ['in the future', { expires_at: iso(now + 1) }, []],
    ['now', { expires_at: iso(now) }, ['expires_at must be in the future']],
    ['in the past', { expires_at: iso(now - 1) }, ['expires_at must be in the future']],
    ['absent', {}, []],
    ['null', { expires_at: null }, []],
    ['no time, which the schema rejects', { expires_at: 'never' }, []],
    ['in no object', 'text', []],
  ])('that is %s has the violations %j', (_, json, expected) => {
    expect(expiryViolations(json, now).map(({ field, detail }) => `${field} ${detail}`)).toEqual(expected);
  });
});

describe('an admin key', () => {
  it.each([
    ['without an end', {}, true],
    ['with an expiry', { expiresAt: now + 1 }, false],
    ['that is revoked', { revokedAt: now }, false],
    ['that is a live key', { type: 'live' } as const, false],
  ])('%s keeps its project manageable: %j', (_, members, expected) => {
    expect(isLastingAdmin(newKey(members), now)).toBe(expected);
  });
});

it('a path names a key by its id, or by the complete key, but not by another secret with its id', () => {
  const key = { id: 'key_1', hash: hashApiKey('svc_live_1') };
  expect(['key_1', 'svc_live_1', 'svc_live_2', 'key_2'].map((reference) => isNamedBy(reference, key))).toEqual([
    true,
    true,
    false,
    false,
  ]);
});
