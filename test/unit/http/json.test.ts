import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseJson } from '../../../lib/json.ts';

it.each([
  '0',
  '-7',
  '999999999999999',
  '9007199254740993',
  '-0',
  '0.1',
  '1.0',
  '-1.50',
  '1e2',
  '1E400',
  '1e-7',
])('keeps the number %s unchanged', (number) => {
  const text = `{"n":[${number},true]}`;
  expect(JSON.stringify(parseJson(text))).toBe(text);
});

/** `JSON.parse` with a reviver that keeps digits: slower, and the definition of what the parser returns. */
const reference = (text: string) =>
  (
    JSON.parse as (
      text: string,
      reviver: (key: string, value: unknown, context: { source?: string }) => unknown,
    ) => unknown
  )(text, (_key, value, { source }) =>
    typeof value === 'number' && source !== undefined && String(value) !== source
      ? (JSON as unknown as { rawJSON(text: string): unknown }).rawJSON(source)
      : value,
  );

describe('a text with numbers that a double changes', () => {
  const number = fc.oneof(
    fc.constantFrom('-0', '1.0', '1e400', '12345678901234567890', '0.1', '7', '-12.50E-3', '1E+2'),
    fc.double({ noNaN: true, noDefaultInfinity: true }).map((value) => JSON.stringify(value)),
  );
  const space = fc.constantFrom('', ' ', '\n\t', '\r ');
  const string = fc.oneof(
    fc.string({ unit: 'binary' }).map((text) => JSON.stringify(text)),
    fc.constantFrom(
      '"__proto__"',
      '"constructor"',
      '"\\u0041\\n\\"\\\\"',
      '"\\ud83d\\ude00"',
      '"1"',
      '"a"',
      '"\uffff"',
      '"1.0"',
    ),
  );
  const { value } = fc.letrec<{ value: string }>((tie) => ({
    value: fc
      .tuple(
        space,
        fc.oneof(
          { maxDepth: 5 },
          number,
          string,
          fc.constantFrom('true', 'false', 'null'),
          fc.array(tie('value'), { maxLength: 4 }).map((all) => `[${all.join()}]`),
          fc
            .array(fc.tuple(space, string, space, tie('value')), { maxLength: 4 })
            .map((all) => `{${all.map((parts) => `${parts[0]}${parts[1]}${parts[2]}:${parts[3]}`).join()}}`),
        ),
        space,
      )
      .map((parts) => parts.join('')),
  }));

  it('is parsed as JSON.parse with a reviver parses it, including the order of members', () => {
    fc.assert(
      fc.property(value, (text) => {
        const [parsed, expected] = [parseJson(`[1.0,${text}]`), reference(`[1.0,${text}]`)];
        expect(JSON.stringify(parsed)).toBe(JSON.stringify(expected));
        expect(Object.getOwnPropertyNames(Object(parsed))).toEqual(Object.getOwnPropertyNames(Object(expected)));
        expect(parsed).toEqual(expected);
      }),
      { numRuns: 2000 },
    );
  });

  it('is refused exactly when JSON.parse refuses it', () => {
    const edit = fc.tuple(fc.nat(), fc.constantFrom('', ',', '}', ']', '"', '\\', '0', 'e', '-', '{', ' ', '\u0000'));
    fc.assert(
      fc.property(value, edit, (text, [position, insert]) => {
        const at = position % (text.length + 1);
        const changed = `[1.0,${text.slice(0, at)}${insert}${text.slice(at + 1)}]`;
        const resultOf = (parse: (text: string) => unknown) => {
          try {
            return JSON.stringify(parse(changed));
          } catch (error) {
            return (error as Error).name;
          }
        };
        expect(resultOf(parseJson)).toBe(resultOf(reference));
      }),
      { numRuns: 2000 },
    );
  });

  it('keeps __proto__ as a member', () => {
    const parsed = parseJson('{"__proto__":{"admin":1.0}}') as Record<string, unknown>;
    expect(Object.hasOwn(parsed, '__proto__')).toBe(true);
    expect(parsed.admin).toBeUndefined();
  });
});
