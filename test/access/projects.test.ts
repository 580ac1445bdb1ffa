import * as v from 'valibot';
import { describe, expect, it } from 'vitest';
import { EmailAddress } from '../../lib/access/projects.ts';

describe('an email address', () => {
  it.each([
    "o'brien@example.com",
    'first.last+tag@mail.example.co.uk',
    '^@d.example',
    `${'x'.repeat(64)}@example.com`,
    'a@xn--bcher-kva.example',
    `a@${'l'.repeat(63)}.example`,
  ])('%s is one', (address) => {
    expect(v.is(EmailAddress, address)).toBe(true);
  });

  it.each([
    ...[
      '',
      'nobody',
      'a@b',
      '@example.com',
      'a@',
      '.a@example.com',
      'a.@example.com',
      'a..b@example.com',
      'a@.example',
    ],
    ...[
      'a@-b.example',
      'a@b-.example',
      'a@b..example',
      'a@b.example.',
      'a b@example.com',
      'a@b.example\n',
      'é@b.example',
    ],
    ...[
      '"a b"@example.com',
      'a@[192.0.2.1]',
      'A <a@example.com>',
      'a@example.com,b@example.com',
      'a\r\nBcc: b@c.example',
    ],
    ...[`${'x'.repeat(65)}@example.com`, `a@${'l'.repeat(64)}.example`, `a@${'l.'.repeat(126)}example`],
  ])('%j is none', (address) => {
    expect(v.is(EmailAddress, address)).toBe(false);
  });
});
