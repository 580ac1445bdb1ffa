import { describe, expect, it } from 'vitest';
import { isPublicAddress, normalizeUrl, urlViolations } from '../../../lib/webhooks/endpoint-url.ts';
import forbidden from '../../cases/forbidden-addresses.json' with { type: 'json' };

const NOT_PUBLIC = ['must point to a public host'];
const hostOf = (address: string) => (address.includes(':') ? `[${address}]` : address);
const urlOf = (host: string) => `https://${host}/hook`;
const violationsOf = (host: string) => urlViolations(urlOf(host), 'public');

/** Returns every spelling of a host that the URL standard accepts. */
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
  const [head = [], tail = []] = address.split('::').map((part) => part.split(':').filter(Boolean));
  const groups = [...head, ...Array<string>(8 - head.length - tail.length).fill('0'), ...tail];
  const [high = 0, low = 0] = groups.slice(6).map((group) => Number.parseInt(group, 16));
  const quad = [high >> 8, high & 255, low >> 8, low & 255].join('.');
  const whole = groups.join(':');
  const padded = groups.map((group) => group.padStart(4, '0')).join(':');
  return [whole, padded, padded.toUpperCase(), `${groups.slice(0, 6).join(':')}:${quad}`].map((text) => `[${text}]`);
}

describe.each(forbidden.addresses)('$source, $group', ({ refused, allowed, overruled }) => {
  it.each([
    ...refused,
    ...overruled.map(({ address }) => address),
  ])('is rejected when saving and connecting: %s', (address) => {
    const host = hostOf(address);
    expect(isPublicAddress(address)).toBe(false);
    if (!URL.canParse(urlOf(host))) return expect(violationsOf(host)).toEqual(['must be an absolute https: URL']);
    const { hostname } = new URL(urlOf(host));
    for (const spelling of [host, ...spellings(hostname)]) {
      expect([spelling, new URL(urlOf(spelling)).hostname, ...violationsOf(spelling)]).toEqual([
        spelling,
        hostname,
        ...NOT_PUBLIC,
      ]);
    }
  });

  it.each(allowed)('%s is saved and connected to', (address) => {
    const host = hostOf(address);
    expect(isPublicAddress(address)).toBe(true);
    for (const spelling of [host, ...spellings(new URL(urlOf(host)).hostname)]) {
      expect([spelling, ...violationsOf(spelling)]).toEqual([spelling]);
      expect(normalizeUrl(urlOf(spelling))).toBe(new URL(urlOf(host)).href);
    }
  });
});

describe.each(forbidden.urls)('$source, $group', ({ refused, allowed, overruled, resolved }) => {
  // Uses https:, because the scheme alone would cause most rejections.
  const secure = (url: string) => url.replace(/^http:/, 'https:');

  it.each(refused)('is rejected when saving: %s', (url) => {
    expect(urlViolations(url, 'public')).not.toEqual([]);
    expect(urlViolations(secure(url), 'public')).not.toEqual([]);
  });

  it.each(overruled)('$url is not saved: $reason', ({ url }) => {
    expect(urlViolations(url, 'public')).not.toEqual([]);
  });

  it.each(allowed)('%s is saved', (url) => {
    expect(urlViolations(secure(url), 'public')).toEqual([]);
    expect(urlViolations(url, 'any')).toEqual([]);
  });

  it.each(resolved)('$url is saved, and not connected to at $address', ({ url, address }) => {
    expect(urlViolations(secure(url), 'public')).toEqual([]);
    expect(isPublicAddress(address)).toBe(false);
  });
});

it('finds a user only before the host', () => {
  for (const rest of ['/?next=https://user@example.com/', '/http://user@example.com/'])
    expect(urlViolations(`https://example.com${rest}`, 'public')).toEqual([]);
});

describe('a host name', () => {
  it.each([
    ...['localhost', 'localhost.', 'LOCALHOST', 'ｌｏｃａｌｈｏｓｔ', 'local\u00adhost', '%6cocalhost', 'localhost..'],
    ...['app.localhost', 'app.localhost.', 'localhost.localdomain', 'ip6-localhost', 'ip6-loopback'],
    ...['printer.local', 'db.internal', 'db.internal.', 'DB.INTERNAL', 'ip-10-0-0-1.eu-west-1.compute.internal'],
    ...[
      'metadata',
      'metadata.google.internal',
      'metadata.google.internal.',
      'instance-data',
      'instance-data.ec2.internal',
    ],
    ...['kubernetes', 'kubernetes.default.svc.cluster.local', 'host.docker.internal'],
    ...[
      'home.arpa',
      'nas.home.arpa',
      'nas.home.arpa.',
      'nas.lan',
      'nas.home',
      'wiki.corp',
      'wiki.intranet',
      'a.private',
    ],
    ...['intranet', 'com', 'com.', 'a.onion', 'a.alt'],
    ...['..', 'a..example.com', '.example.com', 'example.com..', '".example.com', "a'b.example.com", '*.example.com'],
  ])('is rejected when saving: %s', (name) => {
    expect(violationsOf(name)).toEqual(NOT_PUBLIC);
  });

  it.each([
    ...['example.com', 'example.com.', 'EXAMPLE.com', 'a.b.c.example.com', 'my_host.example.com', 'müller.example'],
    ...[
      'localhost.example.com',
      'mylocalhost.com',
      'notlocal.de',
      'internal.example.com',
      'xinternal.com',
      'homearpa.de',
      'a.clan',
    ],
    ...['127.0.0.1.nip.io', '10.0.0.1.nip.io', '169-254-169-254.sslip.io', 'localtest.me', 'metadata.tencentyun.com'],
  ])('is saved, and its addresses are checked at every connection: %s', (name) => {
    expect(violationsOf(name)).toEqual([]);
  });

  it('has labels of at most 63 characters and at most 253 characters in total', () => {
    expect(violationsOf(`${'a'.repeat(63)}.com`)).toEqual([]);
    expect(violationsOf(`${'a'.repeat(64)}.com`)).toEqual(NOT_PUBLIC);
    expect(violationsOf(`${'a.'.repeat(125)}com.`)).toEqual([]);
    expect(violationsOf(`${'a.'.repeat(125)}info`)).toEqual(NOT_PUBLIC);
  });
});
