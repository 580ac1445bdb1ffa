import fc from 'fast-check';
import { expect, it } from 'vitest';
import { csv } from '../../functions/dashboard/app/csv.ts';

it('rows are lines of RFC 4180', () => {
  expect(
    csv([
      ['a', 'b'],
      [1, null],
      ['say "hi", you', 'two\nlines'],
    ]),
  ).toBe('a,b\r\n1,\r\n"say ""hi"", you","two\nlines"\r\n');
});

it.each(['=1+1', '+1', '-1', '@sum', '\tx', '\rx'])('%j is no formula', (text) => {
  expect(csv([[text]])).toMatch(/^"?'/);
});

it('is read back as what it was', () => {
  const text = fc.string({ minLength: 1 }).filter((each) => !/^[=+\-@\t\r']/.test(each));
  fc.assert(
    fc.property(fc.array(fc.array(text, { minLength: 2, maxLength: 2 }), { minLength: 1 }), (rows) => {
      expect(read(csv(rows))).toEqual(rows);
    }),
  );
});

/** A reader of RFC 4180. */
function read(file: string): string[][] {
  const rows: string[][] = [];
  let row: string[] = [];
  for (const [, quoted, plain = '', end] of file.matchAll(/(?:"((?:[^"]|"")*)"|([^",\r\n]*))(,|\r\n)/g)) {
    row.push(quoted === undefined ? plain : quoted.replaceAll('""', '"'));
    if (end === ',') continue;
    rows.push(row);
    row = [];
  }
  return rows;
}
