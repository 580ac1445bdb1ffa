import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseJson } from '../../../lib/json.ts';

describe('a text with numbers that a double changes', () => {
  const number = fc.oneof(
    fc.constantFrom('-0', '1.0', '1E400', '12345678901234567890', '9007199254740993', '0.1', '7', '-12.50E-3', '1e-7'),
    fc.double({ noNaN: true, noDefaultInfinity: true }).map((value) => JSON.stringify(value)),
  );
  const string = fc.oneof(
    fc.string({ unit: 'binary' }).map((text) => JSON.stringify(text)),
    fc.constantFrom('"__proto__"', '"constructor"', '"1.0"'),
  );
  // Names that are no array indexes, because objects list those first.
  const names = fc.uniqueArray(string, { maxLength: 4 }).map((all) => all.filter((name) => !/^"\d/.test(name)));
  const { value } = fc.letrec<{ value: string }>((tie) => ({
    value: fc.oneof(
      { maxDepth: 5 },
      number,
      string,
      fc.constantFrom('true', 'false', 'null'),
      fc.array(tie('value'), { maxLength: 4 }).map((all) => `[${all.join()}]`),
      fc
        .tuple(names, fc.array(tie('value'), { minLength: 4, maxLength: 4 }))
        .map(([all, values]) => `{${all.map((name, i) => `${name}:${values[i]}`).join()}}`),
    ),
  }));

  it('is printed as it was, with every digit and the order of members', () => {
    fc.assert(
      fc.property(value, (text) => {
        for (const each of [text, `[1.0,${text}]`]) expect(JSON.stringify(parseJson(each))).toBe(each);
      }),
      { numRuns: 2000 },
    );
  });

  it('is rejected exactly when JSON.parse rejects it', () => {
    const edit = fc.tuple(fc.nat(), fc.constantFrom('', ',', '}', ']', '"', '\\', '0', 'e', '-', '{', ' ', '\u0000'));
    fc.assert(
      fc.property(value, edit, (text, [position, insert]) => {
        const at = position % (text.length + 1);
        const changed = `[1.0,${text.slice(0, at)}${insert}${text.slice(at + 1)}]`;
        const isParsed = (parse: (text: string) => unknown) => {
          try {
            parse(changed);
            return true;
          } catch {
            return false;
          }
        };
        expect(isParsed(parseJson)).toBe(isParsed(JSON.parse));
      }),
      { numRuns: 2000 },
    );
  });
});
