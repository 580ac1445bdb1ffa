import { spawnSync } from 'node:child_process';
import { cpSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { temporaryDirectory } from '../support/after-file.ts';

const CHECK = 'infra/require-install.cjs';
const { scripts } = JSON.parse(readFileSync('package.json', 'utf8'));
const REJECTED = {
  status: 1,
  stdout: '',
  stderr: 'Run `npm ci` first, without --ignore-scripts. It installs the packages and the Node.js of this project.\n',
};
const options = { encoding: 'utf8' } as const;

it.each(['start', 'init', 'ops', 'dev'])('npm run %s before npm ci names npm ci in place of a stack trace', (name) => {
  const cwd = temporaryDirectory();
  cpSync(CHECK, join(cwd, CHECK));
  expect(spawnSync('sh', ['-c', scripts[name]], { ...options, cwd })).toMatchObject(REJECTED);
});

it('rejects a Node.js that cannot run TypeScript, which npm ci replaces', () => {
  expect(spawnSync(process.execPath, ['--no-strip-types', CHECK], options)).toMatchObject(REJECTED);
});

it('accepts the packages and the Node.js of npm ci', () => {
  expect(spawnSync(process.execPath, [CHECK], options)).toMatchObject({ status: 0, stdout: '', stderr: '' });
});
