import fc from 'fast-check';

/*
 * Content that another service can reject or change, for the tests of every boundary. It contains names of inherited members,
 * characters that a queue, a table or a terminal does not accept, and texts of maximum length.
 */

/** `constructor`, `__proto__`, `toString` … */
export const PROTOTYPE_NAMES = Object.getOwnPropertyNames(Object.prototype);

/** Half of a surrogate pair, which is valid in a JavaScript string and in JSON, but in no Unicode encoding. */
export const LONE_SURROGATES = ['\ud800', '\udbff', '\udc00', '\udfff', 'a\ud83d', '\ude00b', '\udc00\ud800'];

/** U+FDD0 to U+FDEF and the last two code points of every plane. They are valid Unicode, but SQS rejects U+FFFE and U+FFFF. */
const NONCHARACTERS = ['\ufdd0', '\ufdef', '\ufffe', '\uffff', '\u{1fffe}', '\u{10ffff}'];

/** C0, DEL and C1. */
const CONTROLS = ['\0', '\x07', '\b', '\t', '\n', '\v', '\f', '\r', '\x1b', '\x7f', '\x85', '\x9b', '\x9f'];

/** Invisible characters, and characters that change the direction or the display of text. */
const FORMATS = [
  ...['\u200b', '\u200d', '\u200e', '\u200f', '\u202a', '\u202e', '\u2066', '\u2069', '\ufeff', '\u00ad', '\u061c'],
  ...['\u{e0001}', '\u{1d173}'],
];

/** The first character of every general category that a text can have (all except Cs), and special characters. */
export const CHARACTERS = [
  ...new Set([
    ...firstOfEveryCategory(),
    ...NONCHARACTERS,
    ...CONTROLS,
    ...FORMATS,
    ...['"', '\\', '/', '<', '&', "'", '%', '=', '$', '#', ':', '*', '\u2028', '\u2029', '\u00a0', '\u3000', '\ufffd'],
    ...['é', 'e\u0301', 'ß', 'ﬀ', 'İ', '中', '😀', '👩‍👩‍👧', '\u{10fffd}'],
  ]),
];

function firstOfEveryCategory(): string[] {
  const names = 'Lu Ll Lt Lm Lo Mn Mc Me Nd Nl No Pc Pd Ps Pe Pi Pf Po Sm Sc Sk So Zs Zl Zp Cc Cf Co Cn'.split(' ');
  const categories = names.map((name) => new RegExp(`^\\p{${name}}$`, 'u'));
  const found = new Map<RegExp, string>();
  for (let code = 0; code <= 0x10ffff && found.size < categories.length; code++) {
    if (code >= 0xd800 && code <= 0xdfff) continue;
    const character = String.fromCodePoint(code);
    for (const category of categories)
      if (!found.has(category) && category.test(character)) found.set(category, character);
  }
  return [...found.values()];
}

/** Each text alone: every character above, every name of `Object.prototype`, and lone surrogates. */
export const TEXTS = [...CHARACTERS, ...PROTOTYPE_NAMES, ...LONE_SURROGATES];

/** Every assigned character and every noncharacter of Unicode, in texts of at most so many bytes as JSON. */
export function assignedTexts(bytesMax: number): string[] {
  const texts: string[] = [];
  let text = '';
  let bytes = 2; // the quotes
  for (let code = 0; code <= 0x10ffff; code++) {
    const character = String.fromCodePoint(code);
    if (!/[\p{Assigned}\p{Noncharacter_Code_Point}]/u.test(character) || !character.isWellFormed()) continue;
    const size = Buffer.byteLength(JSON.stringify(character)) - 2;
    if (bytes + size > bytesMax) {
      texts.push(text);
      text = '';
      bytes = 2;
    }
    text += character;
    bytes += size;
  }
  return [...texts, text];
}

/** Every header name that `node:http` accepts, with a higher share of the names in `Object.prototype`. */
export const headerName = (): fc.Arbitrary<string> =>
  fc.oneof(
    fc.constantFrom(...PROTOTYPE_NAMES, '0', '-1', '4294967295', 'then', 'toJSON', "!#$%&'*+.^_`|~-"),
    fc.string({ unit: fc.constantFrom(...TOKEN_CHARACTERS), minLength: 1, maxLength: 40 }),
  );
const TOKEN_CHARACTERS = "!#$%&'*+.^_`|~-0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";

/** Well-formed text with any characters. */
export const wellFormedText = (maxLength = 20): fc.Arbitrary<string> =>
  fc.string({ unit: fc.constantFrom(...CHARACTERS, ...PROTOTYPE_NAMES), minLength: 1, maxLength });

/** Texts with exactly `bytes` bytes in UTF-8, with characters of 1, 2, 3 and 4 bytes. */
export const textsOfBytes = (bytes: number): string[] =>
  ['a', 'é', '中', '😀'].map((unit) => {
    const text = unit.repeat(Math.floor(bytes / Buffer.byteLength(unit)));
    return text + 'a'.repeat(bytes - Buffer.byteLength(text));
  });

/** JSON texts of limited size that are expensive to parse, to validate or to respond to. */
const COSTLY_JSON: Readonly<Record<string, (bytes: number) => string>> = {
  'a list of objects': (bytes) => filled('[', () => '{}', ']', bytes),
  'a list of texts': (bytes) => filled('[', (i) => `"a${i}"`, ']', bytes),
  'a list of equal texts': (bytes) => filled('[', () => '"a"', ']', bytes),
  'a list of numbers that a double changes': (bytes) => filled('[', () => '1.0', ']', bytes),
  'an object of many members': (bytes) => filled('{', (i) => `"a${i}":"v"`, '}', bytes),
  'an object with one name many times': (bytes) => filled('{', () => '"a":1', '}', bytes),
  'an object with a long name': (bytes) => `{"${'\\u0001'.repeat((bytes - 8) / 6)}":1}`,
  'a long text': (bytes) => `"${'a'.repeat(bytes - 2)}"`,
  'a long text of escapes': (bytes) => `"${'\\u0001'.repeat((bytes - 2) / 6)}"`,
  'nested lists': (bytes) => '['.repeat(bytes / 2) + ']'.repeat(bytes / 2),
};

function filled(before: string, unit: (i: number) => string, after: string, bytes: number): string {
  const units: string[] = [];
  let left = bytes - before.length - after.length;
  for (let i = 0; left > unit(i).length; i++) {
    units.push(unit(i));
    left -= unit(i).length + 1;
  }
  return before + units.join(',') + after;
}

/** Bodies of limited size, in which each costly JSON text replaces the example or one of its values. */
export function* costlyBodies(example: unknown, bytes: number): Generator<[name: string, body: string]> {
  for (const { path, write } of placesIn(example)) {
    const left = bytes - Buffer.byteLength(write(''));
    for (const [shape, textOf] of Object.entries(COSTLY_JSON)) yield [`${shape} as ${path}`, write(textOf(left))];
  }
}

/** Returns the path of the example and of every value in it. `write` returns the example as JSON with another text in its place. */
function* placesIn(example: unknown, path = 'body'): Generator<{ path: string; write: (text: string) => string }> {
  yield { path, write: (text) => text };
  if (typeof example !== 'object' || example === null) return;
  const members = Object.entries(example);
  for (const [i, [name, member]] of members.entries())
    for (const place of placesIn(member, `${path}.${name}`)) {
      const write = (text: string): string => {
        const all = members.map(([each, value], at) => {
          const written = at === i ? place.write(text) : JSON.stringify(value);
          return Array.isArray(example) ? written : `${JSON.stringify(each)}:${written}`;
        });
        return Array.isArray(example) ? `[${all}]` : `{${all}}`;
      };
      yield { path: place.path, write };
    }
}
