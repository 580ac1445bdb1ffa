import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { openLog } from '../../../infra/local/log-file.ts';

/** An empty directory that the test removes at its end. */
function newDirectory(): string {
  const directory = mkdtempSync(join(tmpdir(), 'log-'));
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
  return directory;
}

it('keeps the latest lines in two files of a limited size, and starts empty', () => {
  const directory = newDirectory();
  const path = join(directory, 'functions.log');
  const write = openLog(path, 100);
  for (let i = 0; i < 1000; i++) write(`line ${i} é\n`);
  expect(readdirSync(directory).sort()).toEqual(['functions.log', 'functions.log.1']);
  for (const file of readdirSync(directory)) expect(statSync(join(directory, file)).size).toBeLessThanOrEqual(100);
  const text = readFileSync(`${path}.1`, 'utf8') + readFileSync(path, 'utf8');
  const lines = text.trimEnd().split('\n');
  expect(lines.length).toBeGreaterThan(7);
  expect(lines).toEqual(lines.map((_, i) => `line ${1000 - lines.length + i} é`));
  openLog(path, 100);
  expect(readFileSync(path, 'utf8')).toBe('');
});

it('ignores a write that fails', () => {
  const directory = newDirectory();
  const write = openLog(join(directory, 'functions.log'), 10);
  write('first line\n');
  rmSync(directory, { recursive: true });
  expect(() => write('second line\n')).not.toThrow();
});
