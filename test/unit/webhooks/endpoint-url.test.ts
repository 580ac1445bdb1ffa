import { urlToHttpOptions } from 'node:url';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { addressPolicy, normalizeUrl, urlViolations } from '../../../lib/webhooks/endpoint-url.ts';

const NOT_PUBLIC = 'must point to a public host';

describe('a webhook URL', () => {
  const MISTYPED = 'must begin with https:// and a host';
  const CONTROLS = 'must not contain control characters';
  const SPACE = 'must not contain white space';
  const BACKSLASH = 'must not contain backslashes';
  const SURROGATE = 'must not contain lone surrogates';
  const CREDENTIALS = 'must not contain credentials';
  const FRAGMENT = 'must not contain a fragment';
  const NOT_HTTPS = 'must be an https: URL';
  const NOT_ABSOLUTE = 'must be an absolute https: URL';

  it.each([
    ['https://example.com/\r\nX-Injected: 1', [CONTROLS, SPACE]],
    ['https://example.com/\u0085', [CONTROLS]],
    [' https://example.com/', [SPACE, MISTYPED]],
    ['https://example.com/a\u00a0b', [SPACE]],
    ['https://example.com/a\u2028b', [SPACE]],
    ['https://example.com\\hook', [BACKSLASH]],
    ['https://example.com/\ud800', [SURROGATE]],
    ['https:example.com', [MISTYPED]],
    ['https:///example.com/', [MISTYPED]],
    ['http://example.com/', [NOT_HTTPS]],
    ['localhost:8080', [NOT_HTTPS, NOT_PUBLIC]],
    ['example.com', [NOT_ABSOLUTE]],
    ['', [NOT_ABSOLUTE]],
    ['https://example.com:65536/', [NOT_ABSOLUTE]],
    ['https://user:secret@example.com/', [CREDENTIALS]],
    ['https://:secret@example.com/', [CREDENTIALS]],
    ['https://@example.com/', [CREDENTIALS]],
    ['https://example.com@10.0.0.1/', [CREDENTIALS, NOT_PUBLIC]],
    ['https://localhost\\@example.com', [BACKSLASH, NOT_PUBLIC]],
    ['https://example.com/#', [FRAGMENT]],
    ['https://10.0.0.1#@example.com', [FRAGMENT, NOT_PUBLIC]],
    [' http://u@[::1]\\#', [SPACE, BACKSLASH, NOT_HTTPS, CREDENTIALS, FRAGMENT, NOT_PUBLIC]],
  ])('is rejected with all violations: %j', (text, faults) => {
    expect(urlViolations(text, 'public')).toEqual(faults);
  });

  it.each([
    ['https://example.com', 'https://example.com/'],
    ['HTTPS://EXAMPLE.com:443/Hook', 'https://example.com/Hook'],
    ['https://example.com:8443/?a=b@c&d', 'https://example.com:8443/?a=b@c&d'],
    ['https://example.com/a/../b/./c', 'https://example.com/b/c'],
    ['https://example.com/a@b', 'https://example.com/a@b'],
    ['https://müller.example/ü?ü', 'https://xn--mller-kva.example/%C3%BC?%C3%BC'],
    ['https://пример.рф', 'https://xn--e1afmkfd.xn--p1ai/'],
    ['https://example.com.', 'https://example.com/'],
    ['https://EXAMPLE.com.:443/?', 'https://example.com/'],
    ['https://93.184.215.14.:8443/?', 'https://93.184.215.14:8443/'],
    ['https://example.com/a?', 'https://example.com/a'],
    ['https://example.com/??', 'https://example.com/??'],
    ['https://example.com/a.?b.', 'https://example.com/a.?b.'],
    ['https://example.com/\u202egnp.exe', 'https://example.com/%E2%80%AEgnp.exe'],
  ])('%s is stored as %s', (text, stored) => {
    expect(urlViolations(text, 'public')).toEqual([]);
    expect(normalizeUrl(text)).toBe(stored);
  });

  it('has at most 2,048 characters, as typed and as stored', () => {
    const faultsOf = (path: string) => urlViolations(`https://example.com/${path}`, 'public');
    expect(faultsOf('a'.repeat(2028))).toEqual([]);
    expect(faultsOf('a'.repeat(2029))).toEqual(['must have at most 2048 characters']);
    expect(faultsOf('../lib/'.repeat(1015))).toEqual(['must have at most 2048 characters']);
    expect(faultsOf('€'.repeat(225))).toEqual([]);
    expect(faultsOf('€'.repeat(226))).toEqual(['must have at most 2048 characters when percent-encoded']);
  });

  it('can have each port except 0, which no server has', () => {
    const violationsWith = (port: string) => urlViolations(`https://example.com${port}/`, 'public');
    for (const port of ['', ':', ':443', ':22', ':8443', ':65535']) expect(violationsWith(port), port).toEqual([]);
    for (const port of [':0', ':000']) expect(violationsWith(port), port).toEqual(['must not have the port 0']);
  });

  it('of a local stack can be http: and have any address, with otherwise the same rules', () => {
    expect(['true', 'false', undefined].map((is) => addressPolicy({ ALLOW_PRIVATE_ENDPOINTS: is }))).toEqual([
      'any',
      'public',
      'public',
    ]);
    expect(urlViolations('http://127.0.0.1:9000/hook', 'any')).toEqual([]);
    expect(urlViolations('HTTP://localhost', 'any')).toEqual([]);
    expect(urlViolations('http:localhost', 'any')).toEqual(['must begin with http:// and a host']);
    expect(urlViolations('http://@localhost/# ', 'any')).toEqual([SPACE, CREDENTIALS, FRAGMENT]);
    expect(urlViolations('ftp://localhost/', 'any')).toEqual(['must be an https: URL']);
  });

  const token = fc.constantFrom(
    ...[
      '/',
      '\\',
      '@',
      '#',
      '?',
      ':',
      ':0',
      '.',
      '..',
      '%',
      '%2e',
      '%00',
      '%0a',
      ' ',
      '\n',
      '\u0000',
      '\ud800',
      '\udc00',
    ],
    ...['example.com', '127.0.0.1', '[::1]', ':443', ':8443', 'a', 'ü', '€', '😀', 'Ａ', '"'],
    ...['\u00ad', '\u3000', '\u202e'],
  );
  const start = fc.constantFrom('https://example.com/', 'https://example.com', 'https://', 'HTTPS://Ex', 'http://', '');
  const text = fc.tuple(start, fc.array(token, { maxLength: 6 })).map(([first, rest]) => first + rest.join(''));

  it('is stored in printable ASCII and does not change when it is saved again', () => {
    const property = fc.property(text, (typed) => {
      fc.pre(urlViolations(typed, 'public').length === 0);
      const stored = normalizeUrl(typed);
      expect(stored).toMatch(/^https:\/\/[a-z0-9_.-]+(:\d+)?\/[\x21-\x7e]*$/);
      expect(stored).not.toMatch(/[\\#]/);
      const { hostname, port, path } = urlToHttpOptions(new URL(stored)); // what the request contains
      expect(`https://${hostname}${port ? `:${port}` : ''}${path}`).toBe(stored);
      expect(hostname).not.toMatch(/\.$/);
      expect(stored.length).toBeLessThanOrEqual(2048);
      expect(normalizeUrl(stored)).toBe(stored);
      expect(urlViolations(stored, 'public')).toEqual([]);
    });
    fc.assert(property, { numRuns: 2000 });
  });
});

describe('a host name', () => {
  const violationsOf = (host: string) => urlViolations(`https://${host}/hook`, 'public');
  const namesOf = (...lines: string[]): string[] => lines.flatMap((line) => line.split(' '));

  it.each(
    namesOf(
      'localhost localhost. LOCALHOST ｌｏｃａｌｈｏｓｔ local\u00adhost %6cocalhost localhost..',
      'app.localhost app.localhost. localhost.localdomain ip6-localhost ip6-loopback',
      'printer.local db.internal db.internal. DB.INTERNAL ip-10-0-0-1.eu-west-1.compute.internal',
      'metadata metadata.google.internal metadata.google.internal. instance-data instance-data.ec2.internal',
      'kubernetes kubernetes.default.svc.cluster.local host.docker.internal intranet com com. a.onion a.alt',
      'home.arpa nas.home.arpa nas.home.arpa. nas.lan nas.home wiki.corp wiki.intranet a.private',
      `. .. a..example.com .example.com example.com.. ".example.com a'b.example.com *.example.com`,
    ),
  )('is rejected when saving: %s', (name) => {
    expect(violationsOf(name)).toEqual([NOT_PUBLIC]);
  });

  it.each(
    namesOf(
      'example.com example.com. EXAMPLE.com a.b.c.example.com my_host.example.com müller.example',
      'localhost.example.com mylocalhost.com notlocal.de internal.example.com xinternal.com homearpa.de a.clan',
      '127.0.0.1.nip.io 10.0.0.1.nip.io 169-254-169-254.sslip.io localtest.me metadata.tencentyun.com',
    ),
  )('is saved, and its addresses are checked at every connection: %s', (name) => {
    expect(violationsOf(name)).toEqual([]);
  });

  it('has labels of at most 63 characters and at most 253 characters in total', () => {
    expect(violationsOf(`${'a'.repeat(63)}.com`)).toEqual([]);
    expect(violationsOf(`${'a'.repeat(64)}.com`)).toEqual([NOT_PUBLIC]);
    expect(violationsOf(`${'a.'.repeat(125)}com.`)).toEqual([]);
    expect(violationsOf(`${'a.'.repeat(125)}info`)).toEqual([NOT_PUBLIC]);
  });
});
