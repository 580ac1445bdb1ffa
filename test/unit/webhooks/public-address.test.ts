import { BlockList } from 'node:net';
import fc from 'fast-check';
import ipaddr from 'ipaddr.js';
import { expect, it } from 'vitest';
import { normalizeUrl, urlViolations } from '../../../lib/webhooks/endpoint-url.ts';
import { isPublicAddress } from '../../../lib/webhooks/public-address.ts';
import registry from '../../cases/special-purpose-addresses.json' with { type: 'json' };

type Family = 'ipv4' | 'ipv6';
const BYTES = { ipv4: 4, ipv6: 16 };

// The block list of Node, which is independent of the code under test.
function blockList(blocks: readonly string[], family: Family): BlockList {
  const list = new BlockList();
  for (const block of blocks) {
    const [network = '', bits] = block.split('/');
    list.addSubnet(network, Number(bits), family);
  }
  return list;
}

const blocksOf = (family: Family): string[] => registry[family].map(({ block }) => block);
const special = { ipv4: blockList(blocksOf('ipv4'), 'ipv4'), ipv6: blockList(blocksOf('ipv6'), 'ipv6') };
// The only block that IANA assigns as global unicast (registry ipv6-address-space).
const unicast = { ipv4: blockList(['0.0.0.0/0'], 'ipv4'), ipv6: blockList(['2000::/3'], 'ipv6') };
const isPublic = (text: string, family: Family): boolean =>
  unicast[family].check(text, family) && !special[family].check(text, family);

const maxOf = (family: Family): bigint => (1n << BigInt(8 * BYTES[family])) - 1n;
const bytesOf = (bits: bigint, family: Family): number[] => [
  ...Buffer.from(bits.toString(16).padStart(2 * BYTES[family], '0'), 'hex'),
];
const textOf = (bits: bigint, family: Family): string => ipaddr.fromByteArray(bytesOf(bits, family)).toString();
const bitsOf = (address: ipaddr.IPv4 | ipaddr.IPv6): bigint =>
  BigInt(`0x${Buffer.from(address.toByteArray()).toString('hex')}`);

/** The first and the last address of a block. */
function boundsOf(block: string, family: Family): [first: bigint, last: bigint] {
  const type = family === 'ipv4' ? ipaddr.IPv4 : ipaddr.IPv6;
  return [bitsOf(type.networkAddressFromCIDR(block)), bitsOf(type.broadcastAddressFromCIDR(block))];
}

// Draws half of the addresses in a special-purpose block, because random addresses rarely are.
function addresses(family: Family): fc.Arbitrary<bigint> {
  const blocks = fc.constantFrom(...blocksOf(family), family === 'ipv6' ? '2000::/3' : '128.0.0.0/1');
  return fc.oneof(
    fc.bigInt(0n, maxOf(family)),
    blocks.chain((block) => fc.bigInt(...boundsOf(block, family))),
  );
}

/** The first and the last address of each block, and their neighbors. */
const boundaries = (family: Family): bigint[] =>
  blocksOf(family)
    .map((block) => boundsOf(block, family))
    .flatMap(([first, last]) => [first - 1n, first, last, last + 1n])
    .filter((bits) => bits >= 0n && bits <= maxOf(family));

const urlOf = (host: string) => `https://${host}/hook`;
const hostOf = (address: string): string => new URL(urlOf(address.includes(':') ? `[${address}]` : address)).hostname;

/** Returns other spellings of an address that the URL standard accepts. */
const spellings = (address: string): string[] =>
  address.includes(':') ? ipv6Spellings(ipaddr.IPv6.parse(address)) : ipv4Spellings(address);

function ipv4Spellings(address: string): string[] {
  const [a = 0, b = 0, c = 0, d = 0] = address.split('.').map(Number);
  const number = ((a * 256 + b) * 256 + c) * 256 + d;
  return [
    String(number),
    `0X${number.toString(16).toUpperCase().padStart(12, '0')}`,
    `0${a.toString(8)}.${b}.0x${(c * 256 + d).toString(16)}`,
    `${address}.`,
    [...address].map((character) => `%${character.charCodeAt(0).toString(16)}`).join(''),
    address.replace(/\d/g, (digit) => String.fromCodePoint(0xff10 + Number(digit))), // full-width
    address.replaceAll('.', '。'), // ideographic full stop
    address.replace('.', '\u00ad.'), // soft hyphen
  ];
}

function ipv6Spellings(address: ipaddr.IPv6): string[] {
  const padded = address.parts.map((part) => part.toString(16).padStart(4, '0')).join(':');
  const quad = address.toByteArray().slice(12).join('.');
  return [address.toNormalizedString(), padded.toUpperCase(), `${padded.slice(0, 30)}${quad}`].map(
    (text) => `[${text}]`,
  );
}

/** Saving a URL with this host and connecting to this address have the same result, however the host is written. */
function expectPublic(address: string, expected: boolean): void {
  expect([address, isPublicAddress(address)]).toEqual([address, expected]);
  const host = hostOf(address);
  for (const spelling of [host, ...spellings(address)]) {
    const found = urlViolations(urlOf(spelling), 'public');
    expect([spelling, ...found]).toEqual([spelling, ...(expected ? [] : ['must point to a public host'])]);
    expect(normalizeUrl(urlOf(spelling))).toBe(urlOf(host));
  }
}

it.each(['ipv4', 'ipv6'] as const)('a public address of %s is outside every special-purpose block', (family) => {
  const property = fc.property(addresses(family), (bits) => {
    const address = textOf(bits, family);
    expectPublic(address, isPublic(address, family));
  });
  fc.assert(property, { numRuns: 2000, examples: boundaries(family).map((bits): [bigint] => [bits]) });
});

it.each([
  ['octal', '010.8.8.8'],
  ['hexadecimal', '0x8.8.8.8'],
  ['short', '8.8.8'],
  ['with five parts of IPv4', '::ffff:8.8.8.8.8'],
  ['with a zone id', '2606:4700:4700::1111%eth0'],
  ['with white space', ' 8.8.8.8'],
  ['a name', 'example.com'],
])('an address in an unusual notation is rejected when connecting: %s', (_, address) => {
  expect(isPublicAddress(address)).toBe(false);
});
