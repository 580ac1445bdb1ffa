import fc from 'fast-check';
import { expect, it } from 'vitest';
import { visible } from '../../lib/printable.ts';

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
