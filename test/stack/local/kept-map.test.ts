import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterAll, describe, expect, it } from 'vitest';
import { openKept } from '../../../infra/local/kept.ts';
import { KeptMap } from '../../../infra/local/kept-map.ts';
import { UserError } from '../../../infra/user-error.ts';

const directory = mkdtempSync(join(tmpdir(), 'kept-'));
afterAll(() => rmSync(directory, { recursive: true }));

const open = (name: string) => {
  const file = new DatabaseSync(join(directory, name));
  return { file, map: new KeptMap<unknown>(file, 'things') };
};

describe('kept data', () => {
  it.each([String(process.pid), '1'])('is usable after the process %s wrote a lock file and was killed', (pid) => {
    const path = join(directory, `stale-${pid}`);
    mkdirSync(path);
    writeFileSync(join(path, 'lock'), pid);
    expect(openKept(path)).toMatchObject({ directory: path, demo: undefined });
  });

  it('is usable by one process at a time, until the kernel ends that process', async () => {
    const path = join(directory, 'used');
    mkdirSync(path);
    const script = `
      const { openKept } = await import('${import.meta.resolve('../../../infra/local/kept.ts')}');
      openKept(process.argv[1]).state.messages.set('m1', {});
      console.log('open');
      setInterval(() => {}, 1000);`;
    const child = spawn(process.execPath, ['--input-type=module', '-e', script, path]);
    await once(child.stdout, 'data');
    expect(() => openKept(path)).toThrow(new UserError(`Another \`npm start -- --keep\` uses ${path}. Stop it first.`));
    child.kill('SIGKILL');
    await once(child, 'exit');
    expect([...openKept(path).state.messages.keys()]).toEqual(['m1']);
  });
});

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
