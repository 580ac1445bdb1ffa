import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterAll, describe, expect, it } from 'vitest';
import { KeptMap } from '../../../infra/local/kept-map.ts';

const directory = mkdtempSync(join(tmpdir(), 'kept-'));
afterAll(() => rmSync(directory, { recursive: true }));

const open = (name: string) => {
  const file = new DatabaseSync(join(directory, name));
  return { file, map: new KeptMap<unknown>(file, 'things') };
};

describe('a kept map', () => {
  it('contains its entries in order when the file is opened again', () => {
    const { map } = open('a');
    map.set('first', { text: 'zwei\nZeilen\u0000\ud800' }).set('gone', 1).set('last', null).set('first', 'new');
    expect([map.delete('gone'), map.delete('never')]).toEqual([true, false]);
    map.set('gone', [2]);
    expect([...map]).toEqual([
      ['first', 'new'],
      ['last', null],
      ['gone', [2]],
    ]);
    expect([...open('a').map]).toEqual([...map]);
  });

  it('makes no change on a full disk, and continues when there is space again', () => {
    const { file, map } = open('b');
    map.set('before', 'kept').set('removed', 1);
    const { page_count: pages } = file.prepare('PRAGMA page_count').get() as { page_count: number };
    file.exec(`PRAGMA max_page_count = ${pages}`);
    expect(() => map.set('big', 'x'.repeat(100_000))).toThrow('database or disk is full');
    expect(() => map.set('before', 'x'.repeat(100_000))).toThrow('database or disk is full');
    expect([...map.keys()]).toEqual(['before', 'removed']);
    file.exec(`PRAGMA max_page_count = ${pages + 1000}`);
    map.set('after', 'y'.repeat(100_000)).delete('removed');
    expect([...open('b').map]).toEqual([...map]);
    expect([...map.entries()]).toEqual([
      ['before', 'kept'],
      ['after', 'y'.repeat(100_000)],
    ]);
  });
});
