import { randomBytes as random } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, it, vi } from 'vitest';
import { KEY_TYPES } from '../../../lib/credentials.ts';
import { encodeBase62, randomBase62 } from '../../../lib/keys/key-format.ts';
import { hashApiKey, keyIdOf, newApiKey, parseApiKey, sameText } from '../../../lib/keys/key-secret.ts';
import { type KeyUse, keyUsage, USAGE_DAYS, useToRecord } from '../../../lib/keys/usage.ts';

const now = Date.UTC(2026, 0, 31, 12);

describe('a key', () => {
  it('names its type and contains its id', () => {
    fc.assert(
      fc.property(fc.constantFrom(...KEY_TYPES), fc.integer({ min: 0, max: 2 ** 41 }), (type, at) => {
        const key = newApiKey(type, at, random);
        expect(key.key.startsWith(`svc_${type}_`)).toBe(true);
        expect(parseApiKey(key.key)).toBe(key.id);
        expect(keyIdOf(key.key)).toBe(key.id);
        expect(keyIdOf(key.id)).toBe(key.id);
      }),
    );
  });

  it('is invalid with any character changed', () => {
    const { key } = newApiKey('live', now, random);
    fc.assert(
      fc.property(fc.integer({ min: 0, max: key.length - 1 }), fc.string({ minLength: 1, maxLength: 1 }), (i, char) => {
        fc.pre(key[i] !== char);
        expect(parseApiKey(key.slice(0, i) + char + key.slice(i + 1))).toBe(null);
      }),
    );
  });

  it.each([
    ['nothing', ''],
    ['an id of something else', 'whk_0123456789AB'],
    ['an id that is too long', 'key_0123456789ABC'],
    ['a key that is cut off', newApiKey('live', now, random).key.slice(0, -1)],
  ])('has no id in %s', (_, text) => {
    expect(keyIdOf(text)).toBe(null);
  });
});

describe('the hash of a key', () => {
  it('is its SHA-256 in hexadecimal (FIPS 180-4)', () => {
    expect(hashApiKey('abc')).toBe('ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad');
  });

  it.each([
    [hashApiKey('a'), hashApiKey('a'), true],
    [hashApiKey('a'), hashApiKey('b'), false],
    [hashApiKey('a'), hashApiKey('a').slice(0, -1), false],
    [hashApiKey('a'), '', false],
  ])('%s is that of another, %s: %s', (a, b, expected) => {
    expect(sameText(a, b)).toBe(expected);
  });
});

describe('base 62', () => {
  it.each([
    [0, 3, '000'],
    [10, 1, 'A'],
    [36, 1, 'a'],
    [62 ** 2 - 1, 4, '00zz'],
  ])('%i in %i characters is %s', (value, length, text) => {
    expect(encodeBase62(value, length)).toBe(text);
  });

  it('draws every character with the same probability and discards bytes from 248', () => {
    const every = Uint8Array.from({ length: 256 }, (_, byte) => byte);
    const counts = Map.groupBy(
      randomBase62(248, () => every),
      (character) => character,
    );
    expect([...counts.values()].map(({ length }) => length)).toEqual(Array(62).fill(4));
  });

  it('draws again until it has enough characters', () => {
    const draws = [Uint8Array.of(248, 255, 61), Uint8Array.of(0, 36, 1, 2)];
    const few = vi.fn(() => draws.shift() ?? new Uint8Array());
    expect(randomBase62(3, few)).toBe('z0a');
    const many = vi.fn((n: number) => new Uint8Array(n));
    expect(randomBase62(32, many)).toBe('0'.repeat(32));
    expect(many.mock.calls).toEqual([[64]]);
  });
});

describe('the use of a key', () => {
  const HOUR = 3_600_000;
  const used = (...times: number[]): Partial<KeyUse> =>
    times.reduce<Partial<KeyUse>>((usage, at) => useToRecord(usage, at) ?? usage, {});

  it('is written once an hour', () => {
    expect(useToRecord({}, now + 5)).toEqual({ lastUsedAt: now, activeHours: [1] });
    expect(useToRecord(used(now), now + HOUR - 1)).toBe(null);
    expect(useToRecord(used(now), now - 1)).toBe(null);
    expect(useToRecord(used(now), now + HOUR)).toEqual({ lastUsedAt: now + HOUR, activeHours: [2] });
  });

  it('lists the hours of use for each day', () => {
    const uses = [-49, -30, -29, -29.5, 0, 0.5, 1].map((hours) => now + hours * HOUR);
    const { days } = keyUsage({ id: 'key_1', ...used(...uses) }, now + 24 * HOUR);
    expect(days).toHaveLength(USAGE_DAYS);
    expect(days.slice(0, 6)).toEqual([
      { date: '2026-02-01', active_hours: 0 },
      { date: '2026-01-31', active_hours: 2 },
      { date: '2026-01-30', active_hours: 2 },
      { date: '2026-01-29', active_hours: 1 },
      { date: '2026-01-28', active_hours: 0 },
      { date: '2026-01-27', active_hours: 0 },
    ]);
  });

  it('is deleted after 30 days, so the record does not grow', () => {
    const hours = Array.from({ length: 24 * 40 }, (_, i) => now + i * HOUR);
    const usage = used(...hours);
    expect(usage.activeHours).toHaveLength(USAGE_DAYS);
    const total = ({ days }: ReturnType<typeof keyUsage>) => days.reduce((sum, day) => sum + day.active_hours, 0);
    expect(total(keyUsage({ id: 'key_1', ...usage }, hours.at(-1) ?? 0))).toBe(29 * 24 + 12);
    expect(total(keyUsage({ id: 'key_1', ...usage }, now + 80 * 24 * HOUR))).toBe(0);
    expect(total(keyUsage({ id: 'key_1' }, now))).toBe(0);
    expect(total(keyUsage({ id: 'key_1', lastUsedAt: now }, now))).toBe(0);
  });
});
