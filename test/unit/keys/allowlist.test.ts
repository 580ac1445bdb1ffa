import * as v from 'valibot';
import { describe, expect, it } from 'vitest';
import { Allowlist, isAllowed, MAX_CIDRS, parseEntry } from '../../../lib/keys/allowlist.ts';
import allowlist from '../../cases/allowlist.json' with { type: 'json' };
import { violationsOf } from '../../support/violations.ts';

describe('an allowlist entry', () => {
  it.each(allowlist.entries)('$entry is stored as $canonical', ({ entry, canonical }) => {
    const parsed = parseEntry(entry);
    expect('cidr' in parsed ? parsed.cidr : null).toBe(canonical);
  });

  const NO_ADDRESS = 'not an IPv4 or IPv6 address or CIDR range in full decimal or colon notation';
  it.each([
    ['example.com', NO_ADDRESS],
    ['', NO_ADDRESS],
    ['256.0.0.1', NO_ADDRESS],
    ['2001:db8', NO_ADDRESS],
    ['fe80::1%eth0', 'zone ids are not allowed'],
    ['::ffff:10.0.0.1', 'write IPv4 addresses in IPv4 notation'],
    ['::ffff:a00:1', 'write IPv4 addresses in IPv4 notation'],
    ['64:ff9b::10.0.0.1', 'write IPv4 addresses in IPv4 notation'],
    ['10.0.0.0/', 'the part after "/" must be a number from 0 to 32'],
    ['10.0.0.0/08', 'the part after "/" must be a number from 0 to 32'],
    ['10.0.0.0/8/8', 'the part after "/" must be a number from 0 to 32'],
    ['2001:db8::/x', 'the part after "/" must be a number from 0 to 128'],
    ['10.0.0.0/33', 'the prefix must be from 0 to 32'],
    ['2001:db8::/129', 'the prefix must be from 0 to 128'],
    ['10.0.0.5/8', 'host bits are set; the network is 10.0.0.0/8'],
    ['2001:db8::1/32', 'host bits are set; the network is 2001:db8::/32'],
  ])('rejects %s: %s', (entry, violation) => {
    expect(parseEntry(entry)).toEqual({ violation });
  });

  it('is stored in the canonical spelling of RFC 5952', () => {
    expect(parseEntry('2001:0DB8:0:0:1:0:0:1')).toEqual({ cidr: '2001:db8::1:0:0:1/128' });
    expect(parseEntry('2001:DB8:0:1:1:1:1:1')).toEqual({ cidr: '2001:db8:0:1:1:1:1:1/128' });
  });
});

describe('an allowlist', () => {
  const entries = (count: number) => Array.from({ length: count }, (_, i) => `10.0.0.${i}`);
  const violations = (cidrs: unknown) => violationsOf(Allowlist, { cidrs });

  it('stores every entry in canonical form', () => {
    const cidrs = ['203.0.113.7', '2001:DB8::/32'];
    expect(v.parse(Allowlist, { cidrs })).toEqual({ cidrs: ['203.0.113.7/32', '2001:db8::/32'] });
    expect(v.parse(Allowlist, { cidrs: [] })).toEqual({ cidrs: [] });
  });

  it('has at most 100 entries', () => {
    expect(violations(entries(MAX_CIDRS))).toEqual([]);
    expect(violations(entries(MAX_CIDRS + 1))).toEqual(['cidrs must have at most 100 entries']);
  });

  it('removes duplicates in any spelling', () => {
    expect(violations(['10.0.0.1', '10.0.0.2', '10.0.0.1/32', '10.0.0.3', '10.0.0.2/32'])).toEqual([
      'cidrs[2] "10.0.0.1/32" is a duplicate',
      'cidrs[4] "10.0.0.2/32" is a duplicate',
    ]);
  });

  it.each([
    ['no list', '10.0.0.1', ['cidrs must be an array']],
    ['an entry that is no text', [1], ['cidrs[0] must be a string']],
    [
      'several at once, each with its place',
      ['10.0.0.0/33', '10.0.0.1', 'fe80::1%eth0'],
      ['cidrs[0] "10.0.0.0/33": the prefix must be from 0 to 32', 'cidrs[2] "fe80::1%eth0": zone ids are not allowed'],
    ],
    [
      'the first 64 characters of an entry',
      [`${'f'.repeat(64)}%`],
      [`cidrs[0] "${'f'.repeat(64)}…": zone ids are not allowed`],
    ],
  ])('reports the violation: %s', (_, cidrs, expected) => {
    expect(violations(cidrs)).toEqual(expected);
  });
});

describe('a caller', () => {
  it.each(allowlist.callers)('$caller is admitted by $cidrs: $allowed', ({ cidrs, caller, allowed }) => {
    expect(isAllowed(cidrs, caller)).toBe(allowed);
  });

  it('is rejected by every list when its address is invalid', () => {
    expect(isAllowed(['0.0.0.0/0', '::/0'], 'unknown')).toBe(false);
  });
});
