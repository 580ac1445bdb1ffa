import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { exactNumbers, fieldsOf, isEqual, jsonOf, parse } from '../../../../lib/client/engine/json-values.ts';

/** Returns the published text of a value and what is lost. */
function published(value: unknown) {
  const losses: string[] = [];
  return { text: JSON.stringify(jsonOf(value, { onLoss: (reason) => losses.push(reason) })), losses };
}
const nested = (depth: number): unknown => {
  let value: unknown = 'deepest';
  for (let i = 0; i < depth; i++) value = i % 2 ? [value] : { in: value };
  return value;
};

describe('a value of an engine', () => {
  it.each<[name: string, value: unknown, text: string | undefined]>([
    ['a BigInt', 219587039534784511n, '"219587039534784511"'],
    ['bytes', new Uint8Array([0, 255, 128]), '"AP+A"'],
    ['a part of a buffer', new Uint8Array([1, 2, 3]).subarray(1), '"AgM="'],
    ['a buffer', new Uint8Array([1]).buffer, '"AQ=="'],
    ['a date', new Date(0), '"1970-01-01T00:00:00.000Z"'],
    ['no date', new Date(Number.NaN), 'null'],
    ['NaN', Number.NaN, 'null'],
    ['Infinity', -Infinity, 'null'],
    ['what has its own JSON', { toJSON: () => 7 }, '7'],
    ['a lone surrogate', 'a\ud800', '"a\ufffd"'],
    ['a name with a lone surrogate', { 'a\ud800': 1 }, '{"a\ufffd":1}'],
    ['members without a value', { a: undefined, b: () => {}, c: Symbol('c') }, '{}'],
    ['entries without a value', [undefined, () => {}], '[null,null]'],
    ['a member called __proto__', JSON.parse('{"__proto__":{"a":1},"b":2}'), '{"__proto__":{"a":1},"b":2}'],
    ['nothing', undefined, undefined],
  ])('is published as JSON: %s', (_, value, text) => {
    expect(published(value)).toEqual({ text, losses: [] });
  });

  it('is published up to a depth that the service accepts, whatever its depth', () => {
    expect(published(nested(190))).toEqual({ text: JSON.stringify(nested(190)), losses: [] });
    const { text, losses } = published(nested(100_000));
    expect(text).toHaveLength(JSON.stringify(nested(190)).length - '"deepest"'.length + 'null'.length);
    expect(losses).toEqual(['it is nested deeper than 190 levels']);
  });

  it('is published without itself inside, in linear time', () => {
    const value: Record<string, unknown> = {};
    for (const name of ['a', 'b', 'c']) value[name] = [value, value];
    expect(published(value).text).toBe('{"a":[null,null],"b":[null,null],"c":[null,null]}');
    expect(
      published({
        toJSON() {
          return this;
        },
      }).text,
    ).toBe('null');
  });

  it('keeps every digit', () => {
    const text = '{"a":219587039534784511,"b":1e400,"c":[-0,1.0,0.1],"d":"1e400"}';
    expect(JSON.stringify(JSON.parse(text, exactNumbers as never))).toBe(text);
    expect(published(parse(text)).text).toBe(text);
  });
});

describe('the fields of a document', () => {
  it('leave out those whose name no event can contain', () => {
    const losses: string[] = [];
    const long = 'n'.repeat(1025);
    expect(fieldsOf({ a: 1, [long]: 2 }, { onLoss: (reason) => losses.push(reason) })).toEqual({ a: 1 });
    expect(losses).toEqual(['the name of a field has over 1024 characters']);
  });

  it.each([[null], [7], ['text'], [[1]]])('are an object, not %j', (value) => {
    expect(() => fieldsOf(value, { onLoss: () => {} })).toThrow('The fields of a document must be an object.');
  });
});

describe('two values', () => {
  it.each([
    ['{"a":1,"b":{"c":[1,2]}}', '{"b":{"c":[1,2]},"a":1}', true],
    ['[1,2]', '[2,1]', false],
    ['{"a":1}', '{"a":1,"b":null}', false],
    ['{"a":null,"b":1}', '{"b":1,"c":null}', false],
    ['{"0":1}', '[1]', false],
    ['{"__proto__":1}', '{}', false],
    ['1', '"1"', false],
    ['null', '0', false],
    ['null', '{}', false],
    ['1.50', '15e-1', true],
    ['-0', '0', true],
    ['1e400', '1e401', false],
    ['100e398', '1e400', true],
    ['219587039534784511', '219587039534784512', false],
    ['0.00', '-0e9', true],
    ['-1', '1', false],
  ])('%s and %s are equal: %s', (a, b, expected) => {
    expect(isEqual(parse(a), parse(b))).toBe(expected);
    expect(isEqual(parse(b), parse(a))).toBe(expected);
  });

  it('are equal to their copies in another order', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        const reversed = JSON.parse(JSON.stringify(value), (_, member) =>
          typeof member === 'object' && member !== null && !Array.isArray(member)
            ? Object.fromEntries(Object.entries(member).reverse())
            : member,
        );
        expect(isEqual(value as never, reversed)).toBe(true);
      }),
    );
  });
});
