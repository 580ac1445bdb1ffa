import fc from 'fast-check';
import { expect, it } from 'vitest';
import { csv } from '../../../../functions/site/dashboard/deliveries/csv.ts';

it('writes rows according to RFC 4180', () => {
  expect(
    csv([
      ['a', 'b'],
      [1, null],
      ['say "hi", you', 'two\nlines'],
    ]),
  ).toBe('"a","b"\r\n1,\r\n"say ""hi"", you","two\nlines"\r\n');
});

it.each([
  ...['=1+1', '+1', '-1', '@sum', '\tx', '\rx', '\nx', '\0x', '\0=1+1', ' =1+1', '\u00a0=1', '\ufeff=1', '\u200b@x'],
  ...[';=1+1', '"=1+1', "'=1+1", '＝1+1', '＋1', '－1', ' ＠sum'],
])('writes %j so that no spreadsheet reads it as a formula', (text) => {
  expect(csv([[text]]).slice(0, 2)).toBe(`"'`);
});

it('writes texts that a parser returns unchanged', () => {
  const text = fc.string().map((each) => `a${each}`);
  fc.assert(
    fc.property(fc.array(fc.array(text, { minLength: 2, maxLength: 2 }), { minLength: 1 }), (rows) => {
      expect(read(csv(rows))).toEqual(rows);
    }),
  );
});

/** A parser for RFC 4180. */
function read(file: string): string[][] {
  const rows: string[][] = [];
  let row: string[] = [];
  for (const [, quoted = '', end] of file.matchAll(/"((?:[^"]|"")*)"(,|\r\n)/g)) {
    row.push(quoted.replaceAll('""', '"'));
    if (end === ',') continue;
    rows.push(row);
    row = [];
  }
  return rows;
}
