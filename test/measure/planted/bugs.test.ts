import { existsSync, readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { BUGS, planted } from './bugs.ts';

it.each(BUGS)('can plant the bug "$name"', (bug) => {
  const text = readFileSync(bug.file, 'utf8');
  expect(planted(bug, text)).not.toBe(text);
  expect(existsSync(bug.test), bug.test).toBe(true);
});

it('plants bugs in every part of the code', () => {
  expect(new Set(BUGS.map(({ name }) => name)).size).toBe(BUGS.length);
  const parts = Map.groupBy(BUGS, ({ file }) => file.split('/')[0]);
  expect([...parts.keys()].sort()).toEqual(['functions', 'infra', 'lib']);
});
