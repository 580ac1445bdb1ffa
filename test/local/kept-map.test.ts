import { appendFileSync, mkdtempSync, readFileSync, rmSync, truncateSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { KeptMap } from '../../infra/local/kept-map.ts';

const directory = mkdtempSync(join(tmpdir(), 'kept-'));
afterAll(() => rmSync(directory, { recursive: true }));

const entriesOf = (path: string) => [...new KeptMap<unknown>(path)];

describe('a kept map', () => {
  it('has what it had, in order, without having been closed', () => {
    const path = join(directory, 'a');
    const map = new KeptMap<unknown>(path);
    map.set('first', { text: 'zwei\nZeilen' }).set('gone', 1).set('last', null).set('first', 'new');
    expect([map.delete('gone'), map.delete('never')]).toEqual([true, false]);
    expect(entriesOf(path)).toEqual([...map]);
    expect(entriesOf(path)).toEqual([
      ['first', 'new'],
      ['last', null],
    ]);
  });

  it('loses a line that was cut off, and none that follow', () => {
    const path = join(directory, 'b');
    new KeptMap(path).set('a', 'long enough').set('b', 'cut off');
    truncateSync(path, readFileSync(path).length - 3);
    appendFileSync(path, '\n["c",1]');
    expect(entriesOf(path)).toEqual([
      ['a', 'long enough'],
      ['c', 1],
    ]);
  });

  it('takes no more room than its changes of late', () => {
    const path = join(directory, 'c');
    const map = new KeptMap<number>(path);
    for (let i = 0; i < 25_000; i++) map.set('counter', i);
    expect(readFileSync(path, 'utf8').split('\n').length).toBeLessThan(11_000);
    expect(entriesOf(path)).toEqual([['counter', 24_999]]);
  });
});
