import { randomBytes as random } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { rotation } from '../../../lib/keys/rotation.ts';
import { DAY_MS, HOUR_MS, newKey, now } from '../../memory/contracts/builders.ts';

describe('a rotation', () => {
  const soon = now + HOUR_MS;
  const late = now + 3 * DAY_MS;
  it.each([
    ['keeps no expiry, and the old key for 24 hours', undefined, {}, undefined, now + DAY_MS],
    ['inherits an expiry after the grace', late, {}, late, now + DAY_MS],
    ['inherits an expiry within the grace, which also ends the old key', soon, {}, soon, soon],
    ['takes the expiry of the body', late, { expires_at: soon }, soon, now + DAY_MS],
    ['removes the expiry with null', late, { expires_at: null }, undefined, now + DAY_MS],
    ['ends the old key after the grace of the body', undefined, { grace_seconds: 60 }, undefined, now + 60_000],
    ['ends the old key now without a grace', late, { grace_seconds: 0 }, late, now],
    [
      'ends the old key at its own expiry before the grace',
      soon,
      { grace_seconds: 7200, expires_at: late },
      late,
      soon,
    ],
  ])('%s', (_, expiresAt, body, newExpiry, endsAt) => {
    const made = rotation(newKey({ expiresAt }), body, now, random);
    expect(made?.record.expiresAt).toBe(newExpiry);
    expect(made?.endsAt).toBe(endsAt);
  });

  it('gives the new key the project, type, name and allowlist of the old one, but another id and other secrets', () => {
    const old = newKey({ type: 'test', name: 'CI', cidrs: ['203.0.113.0/24'] });
    const record = rotation(old, {}, now, random)?.record;
    const { projectId, type, name, cidrs } = old;
    expect(record).toMatchObject({ projectId, type, name, cidrs, replaces: old.id, createdAt: now });
    expect(record?.id).not.toBe(old.id);
    expect(record?.hash).not.toBe(old.hash);
    expect(record?.tokenSecret).not.toBe(old.tokenSecret);
  });

  it.each([
    ['revoked', { revokedAt: now - 1 }],
    ['expired', { expiresAt: now }],
    ['already rotated', { replacedBy: 'key_2' }],
  ])('of a key that is %s is not possible', (_, members) => {
    expect(rotation(newKey(members), {}, now, random)).toBeUndefined();
  });

  it.each([
    ['admin', undefined, {}, false],
    ['admin', undefined, { expires_at: late }, true],
    ['admin', late, { expires_at: soon }, false],
    ['admin', late, { expires_at: null }, false],
    ['live', undefined, { expires_at: late }, false],
  ] as const)('of an %s key with expiry %s and body %j loses an admin key without an expiry: %s', (type, expiresAt, body, expected) => {
    expect(rotation(newKey({ type, expiresAt }), body, now, random)?.losesLastingAdmin).toBe(expected);
  });
});
