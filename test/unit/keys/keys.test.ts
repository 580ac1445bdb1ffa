import { randomBytes as random } from 'node:crypto';
import * as v from 'valibot';
import { describe, expect, it } from 'vitest';
import {
  generateKey,
  isLasting,
  isUsable,
  KeyResource,
  keyResource,
  keyStatus,
  ROTATION_GRACE_SECONDS,
  rotationExpiry,
} from '../../../lib/keys/key.ts';
import { hashApiKey } from '../../../lib/keys/key-format.ts';

const now = Date.UTC(2026, 0, 31, 12);
const rest = { projectId: 'prj_1', type: 'live', name: null } as const;
const { key, record } = generateKey(rest, now, random);

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
