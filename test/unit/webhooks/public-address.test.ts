import { BlockList } from 'node:net';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { isPublicAddress, urlViolations } from '../../../lib/webhooks/endpoint-url.ts';
import registry from '../../cases/special-purpose-addresses.json' with { type: 'json' };

type Family = 'ipv4' | 'ipv6';
const BITS = { ipv4: 32n, ipv6: 128n };

// The block list of Node, which is independent of the code under test.
function blockList(blocks: readonly string[], family: Family): BlockList {
  const list = new BlockList();
  for (const block of blocks) list.addSubnet(networkOf(block), Number(block.split('/')[1]), family);
  return list;
}

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

function bitsOf(text: string, family: Family): bigint {
  if (family === 'ipv4') return text.split('.').reduce((bits, octet) => (bits << 8n) | BigInt(octet), 0n);
  const [head = [], tail = []] = text.split('::').map((part) => part.split(':').filter(Boolean));
  const groups = [...head, ...Array(8 - head.length - tail.length).fill('0'), ...tail];
  return groups.reduce((bits, group) => (bits << 16n) | BigInt(`0x${group}`), 0n);
}

function bounds(block: string, family: Family): { first: bigint; last: bigint } {
  const first = bitsOf(networkOf(block), family);
  return { first, last: first + (1n << (BITS[family] - BigInt(block.split('/')[1] ?? ''))) - 1n };
}

// Draws half of the addresses in or next to a small block, because random addresses rarely are.
function addresses(family: Family): fc.Arbitrary<string> {
  const max = (1n << BITS[family]) - 1n;
  const near = fc.constantFrom(...blocksOf(family), family === 'ipv6' ? '2000::/3' : '128.0.0.0/1').chain((block) => {
    const { first, last } = bounds(block, family);
    return fc.oneof(fc.bigInt(first, last), fc.constantFrom(first - 1n, first, last, last + 1n));
  });
  const isAddress = (bits: bigint) => bits >= 0n && bits <= max;
  return fc.oneof(fc.bigInt(0n, max), near.filter(isAddress)).map((bits) => textOf(bits, family));
}

const urlOf = (address: string, family: Family) => `https://${family === 'ipv6' ? `[${address}]` : address}/`;

describe.each(['ipv4', 'ipv6'] as const)('a public address of %s', (family) => {
  it('is outside every special-purpose block, when connecting and saving', () => {
    const property = fc.property(addresses(family), (address) => {
      const expected = isPublic(address, family);
      expect([address, isPublicAddress(address)]).toEqual([address, expected]);
      expect(urlViolations(urlOf(address, family), 'public')).toEqual(expected ? [] : ['must point to a public host']);
    });
    fc.assert(property, { numRuns: 5000 });
  });

  it.each(registry[family])('is not in $block, $name ($rfc; globally reachable $reachable)', ({ block }) => {
    const { first, last } = bounds(block, family);
    expect(isPublicAddress(textOf(first, family))).toBe(false);
    expect(isPublicAddress(textOf(last, family))).toBe(false);
  });
});

describe('an address in an unusual notation', () => {
  it.each([
    ['octal', '010.8.8.8'],
    ['hexadecimal', '0x8.8.8.8'],
    ['short', '8.8.8'],
    ['one number', '134744072'],
    ['with a zone id', '2606:4700:4700::1111%eth0'],
    ['in brackets', '[2606:4700:4700::1111]'],
    ['with a prefix length', '8.8.8.8/32'],
    ['with white space', ' 8.8.8.8'],
    ['a name', 'example.com'],
    ['nothing', ''],
  ])('is rejected when connecting: %s', (_, address) => {
    expect(isPublicAddress(address)).toBe(false);
  });
});
