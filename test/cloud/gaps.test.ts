import { spawnSync } from 'node:child_process';
import { expect, it } from 'vitest';
import { PYTHON } from './emulator.ts';

it('a gap that the emulator closed stops its start', () => {
  const program = 'from gaps import GAPS; GAPS[0].closed_in("")';
  const env = { PYTHONPATH: 'infra/emulator', PYTHONDONTWRITEBYTECODE: '1' };
  const { status, stderr } = spawnSync(PYTHON, ['-c', program], { env, encoding: 'utf8' });
  expect([status, stderr]).toEqual([
    1,
    expect.stringContaining('has 0 places for this gap, not one. Remove or correct it: '),
  ]);
});
