import fc from 'fast-check';
import { CONTENT_TYPES, JSON_TEXTS, jsonTextsLike } from './hostile.ts';

const MAX_BYTES = 1024 * 1024;

export interface RawBody {
  bytes: Buffer | null;
  contentType: string | null;
}

/** Creates invalid variants of an example, and texts that are not JSON. */
export function hostileBodies(example: unknown): fc.Arbitrary<RawBody> {
  const meant = example === undefined ? fc.constant('{}') : mutated(example);
  const text = fc.oneof({ weight: 8, arbitrary: meant }, fc.constantFrom('[]', '[{}]', 'null', '0', '""'), hostileText);
  const json = text.map((each) => Buffer.from(each));
  const bytes = fc.oneof(
    { weight: 16, arbitrary: json },
    { weight: 3, arbitrary: text.chain(damaged) },
    { weight: 1, arbitrary: fc.uint8Array({ maxLength: 200 }).map((each) => Buffer.from(each)) },
    { weight: 1, arbitrary: fc.constantFrom(...large(example)) },
  );
  const types = fc.constantFrom(null, ...CONTENT_TYPES);
  return fc.oneof(
    { weight: 9, arbitrary: bytes.map((each) => ({ bytes: each, contentType: 'application/json' })) },
    fc.record({ bytes: fc.oneof(json, fc.constant(null)), contentType: types }),
  );
}

const hostileText = fc.oneof(fc.constantFrom(...JSON_TEXTS), fc.json());

/** JSON text in place of a value, which `JSON.stringify` cannot write. */
class Verbatim {
  readonly text: string;
  constructor(text: string) {
    this.text = text;
  }
}

/** Returns the example as text, with up to three values replaced, removed, wrapped in an array or joined by an unknown one. */
function mutated(example: unknown): fc.Arbitrary<string> {
  const change = fc.record({
    at: fc.nat(),
    how: fc.constantFrom('replace', 'replace alike', 'replace alike', 'leave out', 'wrap', 'add'),
    value: hostileText,
  });
  return fc.array(change, { minLength: 1, maxLength: 3 }).map((changes) => {
    const root = { body: structuredClone(example) };
    for (const { at, how, value } of changes) {
      const places = placesIn(root);
      const place = places[at % places.length];
      if (!place) continue;
      const [holder, name] = place;
      if (how === 'replace') holder[name] = new Verbatim(value);
      if (how === 'replace alike') holder[name] = alike(holder[name], at);
      if (how === 'leave out' && holder !== root) delete holder[name];
      if (how === 'wrap') holder[name] = [holder[name]];
      if (how === 'add' && holder !== root) holder[`${name}_${at % 10}`] = new Verbatim(value);
    }
    return write(root.body);
  });
}

function alike(value: unknown, at: number): Verbatim {
  const candidates = jsonTextsLike(value);
  return new Verbatim(candidates[at % candidates.length] ?? 'null');
}

type Holder = Record<string, unknown>;

/** Returns every nested value as its parent and name. Arrays are parents too. */
function placesIn(holder: object): [Holder, string][] {
  return Object.entries(holder).flatMap(([name, value]): [Holder, string][] => {
    const isHolder = typeof value === 'object' && value !== null && !(value instanceof Verbatim);
    return [[holder as Holder, name], ...(isHolder ? placesIn(value) : [])];
  });
}

function write(value: unknown): string {
  if (value instanceof Verbatim) return value.text;
  if (Array.isArray(value)) return `[${value.map(write).join(',')}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value) ?? 'null';
  return `{${Object.entries(value).map(([name, each]) => `${JSON.stringify(name)}:${write(each)}`)}}`;
}

/** Damages a text: truncated, with invalid UTF-8 (RFC 3629), in other encodings, or with text after its end. */
function damaged(text: string): fc.Arbitrary<Buffer> {
  const bytes = Buffer.from(text);
  const inserted = ['ff', 'c080', 'eda080', 'f4908080', '00', 'efbbbf'].map((hex) => Buffer.from(hex, 'hex'));
  const put = ([at, what]: [number, Buffer]) => {
    const cut = at % (bytes.length + 1);
    return Buffer.concat([bytes.subarray(0, cut), what, bytes.subarray(cut)]);
  };
  return fc.oneof(
    fc.nat().map((at) => bytes.subarray(0, at % (bytes.length + 1))),
    fc.tuple(fc.nat(), fc.constantFrom(...inserted)).map(put),
    fc.constantFrom(
      Buffer.from(text, 'utf16le'),
      Buffer.from(`${text} {}`),
      Buffer.from(` \n\t${text}\n`),
      Buffer.from(' '),
    ),
  );
}

/** A body of exactly the maximum size. */
function large(example: unknown): Buffer[] {
  const fill = (before: string, after: string, filler: string) => {
    const count = Math.floor((MAX_BYTES - Buffer.byteLength(before + after)) / Buffer.byteLength(filler));
    return Buffer.from(`${before}${filler.repeat(count)}${after}`);
  };
  const [member] = Object.keys((example as object | undefined) ?? { a: 1 });
  return [
    fill(`{${JSON.stringify(member)}:"`, '"}', 'a'),
    fill('{"a":"', '"}', '漢'),
    fill('[', '0]', '0,'),
    fill('{"fields":{"a":1', '}}', ',"b":1'),
    fill('{"a":', '1}', ' '),
    fill('"', '"', '\\u0000'),
  ];
}
