import { BlockList } from 'node:net';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { isPublicAddress, normalizeUrl, urlViolations } from '../../../lib/webhooks/endpoint-url.ts';
import registry from '../../cases/special-purpose-addresses.json' with { type: 'json' };

type Family = 'ipv4' | 'ipv6';
const BITS = { ipv4: 32n, ipv6: 128n };

// The block list of Node, which is independent of the code under test.
function blockList(blocks: readonly string[], family: Family): BlockList {
  const list = new BlockList();
  for (const block of blocks) list.addSubnet(networkOf(block), Number(block.split('/')[1]), family);
  return list;
}

const maxOf = (family: Family): bigint => (1n << BITS[family]) - 1n;
const networkOf = (block: string): string => block.split('/')[0] ?? '';
const blocksOf = (family: Family): string[] => registry[family].map(({ block }) => block);
const special = { ipv4: blockList(blocksOf('ipv4'), 'ipv4'), ipv6: blockList(blocksOf('ipv6'), 'ipv6') };
// The only block that IANA assigns as global unicast (registry ipv6-address-space).
const unicast = { ipv4: blockList(['0.0.0.0/0'], 'ipv4'), ipv6: blockList(['2000::/3'], 'ipv6') };
const isPublic = (text: string, family: Family): boolean =>
  unicast[family].check(text, family) && !special[family].check(text, family);

function textOf(bits: bigint, family: Family): string {
  if (family === 'ipv4') return [24n, 16n, 8n, 0n].map((shift) => (bits >> shift) & 0xffn).join('.');
  const groups = [7n, 6n, 5n, 4n, 3n, 2n, 1n, 0n].map((i) => ((bits >> (16n * i)) & 0xffffn).toString(16)).join(':');
  return new URL(`https://[${groups}]`).hostname.slice(1, -1);
}

const groupsOf = (text: string): string[] => {
  const [head = [], tail = []] = text.split('::').map((part) => part.split(':').filter(Boolean));
  return [...head, ...Array<string>(8 - head.length - tail.length).fill('0'), ...tail];
};

function bitsOf(text: string, family: Family): bigint {
  if (family === 'ipv4') return text.split('.').reduce((bits, octet) => (bits << 8n) | BigInt(octet), 0n);
  return groupsOf(text).reduce((bits, group) => (bits << 16n) | BigInt(`0x${group}`), 0n);
}

function bounds(block: string, family: Family): { first: bigint; last: bigint } {
  const first = bitsOf(networkOf(block), family);
  return { first, last: first + (1n << (BITS[family] - BigInt(block.split('/')[1] ?? ''))) - 1n };
}

// Draws half of the addresses in a special-purpose block, because random addresses rarely are.
function addresses(family: Family): fc.Arbitrary<bigint> {
  const inside = fc.constantFrom(...blocksOf(family), family === 'ipv6' ? '2000::/3' : '128.0.0.0/1').chain((block) => {
    const { first, last } = bounds(block, family);
    return fc.bigInt(first, last);
  });
  return fc.oneof(fc.bigInt(0n, maxOf(family)), inside);
}

/** The first and the last address of each block, and their neighbors. */
const boundaries = (family: Family): bigint[] =>
  blocksOf(family)
    .map((block) => bounds(block, family))
    .flatMap(({ first, last }) => [first - 1n, first, last, last + 1n])
    .filter((bits) => bits >= 0n && bits <= maxOf(family));

const urlOf = (host: string) => `https://${host}/hook`;
const hostOf = (address: string): string => new URL(urlOf(address.includes(':') ? `[${address}]` : address)).hostname;

/** Returns the spellings of a host in canonical form that the URL standard accepts. */
function spellings(canonical: string): string[] {
  return canonical.startsWith('[') ? ipv6Spellings(canonical.slice(1, -1)) : ipv4Spellings(canonical);
}

function ipv4Spellings(address: string): string[] {
  const octets = address.split('.').map(Number);
  const [a = 0, b = 0, c = 0, d = 0] = octets;
  const number = ((a * 256 + b) * 256 + c) * 256 + d;
  const digits = (zero: number) => address.replace(/\d/g, (digit) => String.fromCodePoint(zero + Number(digit)));
  return [
    String(number),
    `0x${number.toString(16)}`,
    `0X${number.toString(16).toUpperCase().padStart(12, '0')}`,
    `0${number.toString(8)}`,
    octets.map((octet) => `0x${octet.toString(16)}`).join('.'),
    octets.map((octet) => `0${octet.toString(8)}`).join('.'),
    octets.map((octet) => `000${octet.toString(8)}`).join('.'),
    `${a}.${(b * 256 + c) * 256 + d}`,
    `${a}.${b}.${c * 256 + d}`,
    `0${a.toString(8)}.${b}.0x${(c * 256 + d).toString(16)}`,
    `${address}.`,
    `${number}.`,
    [...address].map((character) => `%${character.charCodeAt(0).toString(16)}`).join(''),
    digits(0xff10), // full-width
    digits(0x1d7ce), // mathematical bold
    address.replaceAll('.', '。'), // ideographic full stop
    address.replaceAll('.', '%E3%80%82'),
    address.replace('.', '\u00ad.'), // soft hyphen
    address.replace('.', '\u200b.'), // zero width space
  ];
}

function ipv6Spellings(address: string): string[] {
  const groups = groupsOf(address);
  const [high = 0, low = 0] = groups.slice(6).map((group) => Number.parseInt(group, 16));
  const quad = [high >> 8, high & 255, low >> 8, low & 255].join('.');
  const whole = groups.join(':');
  const padded = groups.map((group) => group.padStart(4, '0')).join(':');
  return [whole, padded, padded.toUpperCase(), `${groups.slice(0, 6).join(':')}:${quad}`].map((text) => `[${text}]`);
}

/** Saving a URL with this host and connecting to this address have the same result, however the host is written. */
function expectPublic(address: string, expected: boolean): void {
  expect([address, isPublicAddress(address)]).toEqual([address, expected]);
  const host = hostOf(address);
  for (const spelling of [host, ...spellings(host)]) {
    const found = urlViolations(urlOf(spelling), 'public');
    expect([spelling, ...found]).toEqual([spelling, ...(expected ? [] : ['must point to a public host'])]);
    expect(normalizeUrl(urlOf(spelling))).toBe(urlOf(host));
  }
}

describe.each(['ipv4', 'ipv6'] as const)('a public address of %s', (family) => {
  it('is outside every special-purpose block', () => {
    const property = fc.property(addresses(family), (bits) => {
      const address = textOf(bits, family);
      expectPublic(address, isPublic(address, family));
    });
    fc.assert(property, { numRuns: 2000, examples: boundaries(family).map((bits): [bigint] => [bits]) });
  });
});

describe('an address in an unusual notation', () => {
  it.each([
    ['octal', '010.8.8.8'],
    ['hexadecimal', '0x8.8.8.8'],
    ['short', '8.8.8'],
    ['with five parts of IPv4', '::ffff:8.8.8.8.8'],
    ['with a zone id', '2606:4700:4700::1111%eth0'],
    ['with white space', ' 8.8.8.8'],
    ['a name', 'example.com'],
  ])('is rejected when connecting: %s', (_, address) => {
    expect(isPublicAddress(address)).toBe(false);
  });
});
