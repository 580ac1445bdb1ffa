import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { openLog } from '../../../infra/local/log-file.ts';

const directory = mkdtempSync(join(tmpdir(), 'log-'));
afterAll(() => rmSync(directory, { recursive: true, force: true }));

describe('the log of the functions', () => {
  it('contains the newest text in two files of a limited size', () => {
    const path = join(directory, 'a.log');
    const write = openLog(path, 100);
    for (let i = 0; i < 25; i++) write(`line ${String(i).padStart(4, '0')}\n`);
    const text = readFileSync(`${path}.1`, 'utf8') + readFileSync(path, 'utf8');
    expect(text.split('\n').at(-2)).toBe('line 0024');
    expect(text.length).toBeGreaterThan(100);
    expect(text.length).toBeLessThan(220);
  });

  it('starts empty', () => {
    const path = join(directory, 'b.log');
    openLog(path, 100)('old');
    openLog(path, 100)('new');
    expect(readFileSync(path, 'utf8')).toBe('new');
  });

  it('does not throw when it cannot be written', () => {
    const path = join(directory, 'gone', 'c.log');
    rmSync(join(directory, 'gone'), { recursive: true, force: true });
    expect(() => openLog(path, 10)).toThrow(); // reported at the start
    const write = openLog(join(directory, 'd.log'), 5);
    rmSync(directory, { recursive: true });
    for (let i = 0; i < 3; i++) expect(() => write('longer than that')).not.toThrow();
  });
});
