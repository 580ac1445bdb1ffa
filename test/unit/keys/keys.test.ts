import { randomBytes as random } from 'node:crypto';
import * as v from 'valibot';
import { describe, expect, it } from 'vitest';
import {
  ChangeKey,
  CreateKey,
  generateKey,
  isLasting,
  isUsable,
  KeyReference,
  KeyResource,
  keyResource,
  keyStatus,
  ROTATION_GRACE_SECONDS,
  RotateKey,
  rotationExpiry,
} from '../../../lib/keys/key.ts';
import { hashApiKey } from '../../../lib/keys/key-format.ts';
import { violationsOf } from '../../support/violations.ts';

const now = Date.UTC(2026, 0, 31, 12);
const rest = { projectId: 'prj_1', type: 'live', name: null } as const;
const { key, record } = generateKey(rest, now, random);

describe('a request about a key', () => {
  const NAME_TOO_LONG = 'name must have at most 100 characters';
  it.each([
    ['create', CreateKey, { type: 'live' }, []],
    ['create', CreateKey, { type: 'admin', name: 'x'.repeat(100), expires_at: '2026-02-01T00:00:00Z' }, []],
    ['create', CreateKey, {}, ['type is required']],
    ['create', CreateKey, { type: 'prod' }, ['type must be one of live, test, read, admin']],
    ['create', CreateKey, { type: 'live', name: 'x'.repeat(101) }, [NAME_TOO_LONG]],
    ['create', CreateKey, { type: 'live', name: '' }, ['name must not be empty']],
    ['create', CreateKey, { type: 'live', expires: now }, ['expires is not a known field']],
    ['change', ChangeKey, { name: 'x' }, []],
    ['change', ChangeKey, { name: null }, []],
    ['change', ChangeKey, {}, ['name is required']],
    ['rotate', RotateKey, {}, []],
    ['rotate', RotateKey, { grace_seconds: 0 }, []],
    ['rotate', RotateKey, { grace_seconds: 86_400 }, []],
    ['rotate', RotateKey, { grace_seconds: 86_401 }, ['grace_seconds must be an integer from 0 to 86400']],
    ['rotate', RotateKey, { grace_seconds: -1 }, ['grace_seconds must be an integer from 0 to 86400']],
  ] as const)('to %s it: %#', (_, schema, input, violations) => {
    expect(violationsOf(schema, input)).toEqual(violations);
  });

  it('accepts the id or the key itself', () => {
    for (const each of [record.id, key]) expect(v.is(KeyReference, each)).toBe(true);
    for (const each of ['', `${record.id}x`, key.slice(0, -1), record.id.replace('key', 'tok')])
      expect(v.is(KeyReference, each)).toBe(false);
  });
});

describe('the record of a key', () => {
  it('contains the hash and the last four characters, but not the key', () => {
    expect(record).toEqual({
      ...rest,
      id: `key_${key.slice(9, 21)}`,
      hash: hashApiKey(key),
      hint: key.slice(key.length - 4),
      cidrs: [],
      tokenSecret: expect.stringMatching(/^[\w-]{43}$/),
      createdAt: now,
    });
    expect(JSON.stringify(record)).not.toContain(key);
  });
});

describe('a key in a response', () => {
  it('contains its history', () => {
    const at = (seconds: number) => new Date(now + seconds * 1000).toISOString();
    const settings = { name: 'CI', cidrs: ['10.0.0.0/8'] };
    const times = { lastUsedAt: now + 1000, expiresAt: now + 2000, revokedAt: now + 3000 };
    const resource = keyResource({ ...record, ...settings, ...times, replaces: 'key_old', replacedBy: 'key_new' }, now);
    expect(resource).toMatchObject({
      ...{ ...settings, status: 'revoked', replaces: 'key_old', replaced_by: 'key_new' },
      ...{ last_used_at: at(1), expires_at: at(2), revoked_at: at(3) },
    });
    expect(v.is(KeyResource, resource)).toBe(true);
  });
});

describe('the end of a key', () => {
  it.each([
    [{}, 'active', { usable: true, lasting: true }],
    [{ expiresAt: now + 1 }, 'expiring', { usable: true, lasting: false }],
    [{ expiresAt: now }, 'expired', { usable: false, lasting: false }],
    [{ expiresAt: now + 1, revokedAt: now }, 'revoked', { usable: false, lasting: false }],
    [{ revokedAt: now }, 'revoked', { usable: false, lasting: false }],
  ])('%o is %s: %o', (end, status, { usable, lasting }) => {
    expect(keyStatus(end, now)).toBe(status);
    expect(isUsable(end, now)).toBe(usable);
    expect(isLasting(end, now)).toBe(lasting);
  });

  it('is 24 hours after a rotation, or its own expiry if that is earlier', () => {
    expect(ROTATION_GRACE_SECONDS).toBe(86_400);
    expect(rotationExpiry({}, now) - now).toBe(86_400_000);
    expect(rotationExpiry({ expiresAt: now + 5 }, now)).toBe(now + 5);
    expect(rotationExpiry({ expiresAt: now * 2 }, now) - now).toBe(86_400_000);
    expect(rotationExpiry({}, now, 60) - now).toBe(60_000);
    expect(rotationExpiry({}, now, 0)).toBe(now);
  });
});
