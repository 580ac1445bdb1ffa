import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { isInRange } from '../../../lib/client/addresses.ts';
import { isDocumentKey, keyOf, matchesAny } from '../../../lib/client/engine/document-names.ts';
import * as service from '../../../lib/documents/patterns.ts';
import { isAllowed, parseEntry } from '../../../lib/keys/allowlist.ts';

const { cases } = JSON.parse(readFileSync('test/cases/patterns.json', 'utf8')) as {
  cases: { pattern: string; key: string; outcome: string }[];
};

describe('the name of a document', () => {
  it.each(cases.filter(({ outcome }) => outcome !== 'invalid_pattern'))('$key of $pattern: $outcome', (each) => {
    expect(matchesAny([each.pattern], each.key)).toBe(each.outcome === 'allow');
  });

  it('is a key and matches a pattern as at the service', () => {
    const segment = fc.constantFrom('*', 'a', 'b', '.', '..', '', 'a b', 'é', 'x'.repeat(65), '~2F', '@-_');
    const name = fc.array(segment, { maxLength: 18 }).map((segments) => segments.join(':'));
    fc.assert(
      fc.property(name, name, (pattern, key) => {
        expect(isDocumentKey(key)).toBe(service.isDocumentKey(key));
        if (service.isPattern(pattern)) expect(matchesAny([pattern], key)).toBe(service.matchesAny([pattern], key));
      }),
    );
  });

  it('has a key of its own, whatever its characters', () => {
    expect(['a/b', 'a~2Fb', 'x:y*', 'ü', '\ud800'].map(keyOf)).toEqual([
      'a~2Fb',
      'a~7E2Fb',
      'x:y~2A',
      '~C3~BC',
      '~EF~BF~BD',
    ]);
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme', minLength: 1, maxLength: 8 }), (name) => {
        const segments = name.split(':');
        if (segments.every(Boolean) && !['.', '..'].includes(name) && segments.length <= 16)
          expect(decodeURIComponent(keyOf(name).replaceAll('~', '%'))).toBe(name.toWellFormed());
      }),
    );
  });
});

describe('an address', () => {
  it('is in a range as at the service', () => {
    const [byte, group] = [fc.nat(255), fc.nat(0xffff).map((n) => n.toString(16))];
    const v4 = fc.tuple(byte, byte, byte, byte).map((parts) => parts.join('.'));
    const v6 = fc.oneof(
      fc.array(group, { minLength: 8, maxLength: 8 }).map((groups) => groups.join(':')),
      fc.tuple(group, group).map(([a, b]) => `2001:db8::${a}:${b}`),
      v4.map((address) => `::ffff:${address}`),
      v4.map((address) => `::${address}`),
      fc.constantFrom('::', '::1', '::2:1', '010.0.0.1', '1.2.3', 'x', '', 'fe80::1%eth0', '[::1]', '1.2.3.4:80'),
    );
    const cidr = fc.oneof(
      fc.tuple(v4, fc.nat(32)).map(([address, length]) => `${address}/${length}`),
      fc.tuple(v6, fc.nat(128)).map(([address, length]) => `${address}/${length}`),
      fc.constantFrom('0.0.0.0/0', '::/0', '2001:db8::/32'),
    );
    fc.assert(
      fc.property(fc.oneof(v4, v6), cidr, (address, text) => {
        const entry = parseEntry(text);
        if ('cidr' in entry)
          expect([address, text, isInRange(address, entry.cidr)]).toEqual([
            address,
            text,
            isAllowed([entry.cidr], address),
          ]);
      }),
      { numRuns: 2000 },
    );
  });
});
