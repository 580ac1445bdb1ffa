import fc from 'fast-check';
import { expect, it } from 'vitest';
import { printable, visible } from '../../lib/printable.ts';
import { CHARACTERS } from '../support/adversarial.ts';

it('removes only control and direction characters', () => {
  const text = `${CHARACTERS.filter((character) => !/\p{C}/u.test(character)).join('')}\u200d\u00ad\t\n`;
  const removed = '\0\x1b\x7f\x9f\r\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069';
  expect(printable(`${removed}${text}${removed}`)).toBe(text);
});

it('changes no visible character', () => {
  expect(visible('Grüße 你好 🎉')).toBe('Grüße 你好 🎉');
});

const CONTROL = /(?![\t\n])[\p{Cc}\p{Cf}]/u;

it('removes every control character of terminals', () => {
  expect(visible('\u001b]52;c;aGk=\u0007 \u009b2J\r\u{e0001}\t\n')).toBe(
    '\\u001b]52;c;aGk=\\u0007 \\u009b2J\\u000d\\udb40\\udc01\t\n',
  );
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), (text) => {
      expect(visible(text)).not.toMatch(CONTROL);
      expect(JSON.parse(visible(JSON.stringify(text)))).toBe(text);
    }),
  );
});
