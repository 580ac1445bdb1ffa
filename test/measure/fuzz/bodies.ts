import fc from 'fast-check';
import { placesIn } from '../../support/adversarial.ts';
import { CONTENT_TYPES, JSON_TEXTS } from './hostile.ts';

export interface RawBody {
  bytes: Buffer | null;
  contentType: string | null;
}

/** Creates invalid variants of an example, and texts that are not JSON. */
export function hostileBodies(example: unknown): fc.Arbitrary<RawBody> {
  const text = fc.oneof({ weight: 8, arbitrary: mutated(example) }, fc.constantFrom('[]', '[{}]', 'null', '0', '""'));
  const json = text.map((each) => Buffer.from(each));
  const bytes = fc.oneof(
    { weight: 16, arbitrary: json },
    { weight: 3, arbitrary: text.chain(damaged) },
    { weight: 1, arbitrary: fc.uint8Array({ maxLength: 200 }).map((each) => Buffer.from(each)) },
  );
  const types = fc.constantFrom(null, ...CONTENT_TYPES);
  return fc.oneof(
    { weight: 9, arbitrary: bytes.map((each) => ({ bytes: each, contentType: 'application/json' })) },
    fc.record({ bytes: fc.oneof(json, fc.constant(null)), contentType: types }),
  );
}

/** Returns the example as text, with one of its values replaced, removed, or in an array. */
function mutated(example: unknown): fc.Arbitrary<string> {
  const places = [...placesIn(example)];
  const replacement = fc.oneof(fc.constantFrom(...JSON_TEXTS), fc.json());
  return fc.tuple(fc.constantFrom(...places), replacement, fc.nat(9)).map(([{ value, write }, text, how]) => {
    if (how === 0) return write(undefined);
    return write(how === 1 ? `[${JSON.stringify(value)}]` : text);
  });
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
    fc.constantFrom(Buffer.from(text, 'utf16le'), Buffer.from(`${text} {}`), Buffer.from(` \n\t${text}\n`)),
  );
}
