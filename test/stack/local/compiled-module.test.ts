import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeEach, describe, expect, it } from 'vitest';
import { loadModule } from '../../../infra/local/lambda/compiled-module.ts';

const directory = mkdtempSync(join(tmpdir(), 'module-'));
const path = join(directory, 'index.cjs');
const cache = join(directory, 'cache');
afterAll(() => rmSync(directory, { recursive: true }));
beforeEach(() => rmSync(cache, { recursive: true, force: true }));

const load = (source: string) => {
  writeFileSync(path, source);
  return loadModule<{ answer: unknown }>(path, cache);
};
const kept = () => readdirSync(cache);

describe('a module', () => {
  it('is CommonJS and has its path', () => {
    const source = `exports.answer = [require('node:path').basename(__filename), __dirname];`;
    expect(load(source).exports.answer).toEqual(['index.cjs', directory]);
    expect(load('module.exports = { answer: module.filename ?? 42 };').exports.answer).toBe(42);
  });

  it('reports the position of an error', () => {
    expect(() => load('\nthrow new Error("no");')).toThrow('no');
    const { stack } = load(`exports.answer = new Error('here');`).exports.answer as Error;
    expect(stack).toContain(`${path}:1:18`);
  });

  it('is compiled and stored once', () => {
    const first = load('exports.answer = 1;');
    first.keep();
    first.keep();
    const [name] = kept();
    expect(kept()).toEqual([name]);
    const second = load('exports.answer = 1;');
    expect(second.exports.answer).toBe(1);
    second.keep();
    expect(kept()).toEqual([name]);
  });

  it('is compiled again after a change, even with the same length', () => {
    load('exports.answer = 1;').keep();
    const second = load('exports.answer = 2;');
    expect(second.exports.answer).toBe(2);
    second.keep();
    expect(kept()).toHaveLength(2);
  });

  it('is compiled and stored again if the cache is unusable', () => {
    load('exports.answer = 1;').keep();
    const [name = ''] = kept();
    writeFileSync(join(cache, name), 'of another version of V8');
    const second = load('exports.answer = 1;');
    expect(second.exports.answer).toBe(1);
    second.keep();
    const third = load('exports.answer = 1;');
    rmSync(join(cache, name));
    third.keep();
    expect(kept()).toEqual([]);
  });
});
