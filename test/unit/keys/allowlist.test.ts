import { describe, expect, it } from 'vitest';
import { Allowlist, isAllowed, isExcluding, parseEntry } from '../../../lib/keys/allowlist.ts';
import { violationsOf } from '../../support/violations.ts';

describe('an allowlist entry', () => {
  it.each([
    ['203.0.113.7', '203.0.113.7/32'],
    ['203.0.113.0/24', '203.0.113.0/24'],
    ['203.0.113.16/28', '203.0.113.16/28'],
    ['0.0.0.0/0', '0.0.0.0/0'],
    ['2001:db8:8000::/33', '2001:db8:8000::/33'],
    ['2001:0DB8:0:0:1:0:0:1', '2001:db8::1:0:0:1/128'],
    ['2001:DB8:0:1:1:1:1:1', '2001:db8:0:1:1:1:1:1/128'],
  ])('%s is stored as %s, IPv6 in the spelling of RFC 5952', (entry, cidr) => {
    expect(parseEntry(entry)).toEqual({ cidr });
  });

  const NO_ADDRESS = 'not an IPv4 or IPv6 address or CIDR range in full decimal or colon notation';
  it.each([
    ['167772161', NO_ADDRESS],
    ['', NO_ADDRESS],
    ['010.0.0.1/32', NO_ADDRESS],
    ['10.1/16', NO_ADDRESS],
    ['/24', NO_ADDRESS],
    [' 10.0.0.1', NO_ADDRESS],
    ['10.0.0.5/8', 'host bits are set; the network is 10.0.0.0/8'],
    ['203.0.113.17/28', 'host bits are set; the network is 203.0.113.16/28'],
    ['2001:db8::1/32', 'host bits are set; the network is 2001:db8::/32'],
    ['2001:db8::/x', 'the part after "/" must be a number from 0 to 128'],
    ['10.0.0.0/', 'the part after "/" must be a number from 0 to 32'],
    ['10.0.0.0/08', 'the part after "/" must be a number from 0 to 32'],
    ['10.0.0.0/+8', 'the part after "/" must be a number from 0 to 32'],
    ['10.0.0.0/8/8', 'the part after "/" must be a number from 0 to 32'],
    ['2001:db8::/129', 'the prefix must be from 0 to 128'],
    ['10.0.0.0/33', 'the prefix must be from 0 to 32'],
    ['::ffff:10.0.0.1', 'write IPv4 addresses in IPv4 notation'],
    ['::ffff:cb00:7107', 'write IPv4 addresses in IPv4 notation'],
    ['::10.0.0.1', 'write IPv4 addresses in IPv4 notation'],
    ['::a00:1', 'write IPv4 addresses in IPv4 notation'],
    ['64:ff9b::10.0.0.1', 'write IPv4 addresses in IPv4 notation'],
    ['::ffff:10.0.0.0/104', 'write IPv4 addresses in IPv4 notation'],
    ['fe80::1%eth0', 'zone ids are not allowed'],
  ])('rejects %s: %s', (entry, violation) => {
    expect(parseEntry(entry)).toEqual({ violation });
  });
});

const violations = (cidrs: unknown) => violationsOf(Allowlist, { cidrs });

it('an allowlist rejects duplicates in any spelling, and states what is wrong with an entry', () => {
  expect(violations(['10.0.0.1', '10.0.0.2', '10.0.0.1/32', '10.0.0.3', '10.0.0.2/32'])).toEqual([
    'cidrs[2] "10.0.0.1/32" is a duplicate',
    'cidrs[4] "10.0.0.2/32" is a duplicate',
  ]);
  expect(violations(['10.0.0.0/33'])).toEqual(['cidrs[0] "10.0.0.0/33": the prefix must be from 0 to 32']);
});

describe('a caller', () => {
  it.each([
    ['10.1.2.3', ['10.0.0.0/8'], true],
    ['11.0.0.1', ['10.0.0.0/8'], false],
    ['::ffff:10.1.2.3', ['10.0.0.0/8'], true],
    ['10.1.2.3', ['::/0'], false],
    ['::ffff:10.1.2.3', ['::/0'], false],
    ['2001:db8:ffff::1', ['2001:db8::/32'], true],
    ['198.51.100.1', [], true],
    ['2001:db8::1', ['198.51.100.1/32', '2001:db8::1/128'], true],
  ])('%s is admitted by %j: %s', (caller, cidrs, allowed) => {
    expect(isAllowed(cidrs, caller)).toBe(allowed);
  });

  it.each([
    ...[
      '',
      'unknown',
      '167772161',
      '0x0a000001',
      '012.0.0.1',
      '0xa.0.0.1',
      '10.1',
      '10.0.0.01',
      '10.0.0.1/32',
      ' 10.0.0.1',
    ],
    ...['::10.0.0.1', '0::10.0.0.1', '::a00:1', '64:ff9b::10.0.0.1', '::ffff:10.1', 'fe80::1%eth0', '2001:db8::1/128'],
  ])('is rejected by every list with the address %j, which is not canonical', (caller) => {
    expect(isAllowed(['0.0.0.0/0', '::/0'], caller)).toBe(false);
  });

  it.each([
    '10.0.0.1',
    '::ffff:10.0.0.1',
    '::FFFF:a00:1',
    '0:0:0:0:0:ffff:10.0.0.1',
    '::1',
    '::',
    '64:ff9b::a00:1',
  ])('is admitted by the list of everything with the address %s', (caller) =>
    expect(isAllowed(['0.0.0.0/0', '::/0'], caller)).toBe(true));
});

it.each([
  ['admin', ['10.0.0.0/8'], true],
  ['admin', ['198.51.100.0/24'], false],
  ['admin', [], false],
  ['live', ['10.0.0.0/8'], false],
] as const)('the allowlist of an %s key with %j excludes an admin caller: %s', (type, cidrs, expected) => {
  expect(isExcluding({ type }, cidrs, '198.51.100.1')).toBe(expected);
});
