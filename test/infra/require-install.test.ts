import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { temporaryDirectory } from '../support/after-file.ts';

const CHECK = 'infra/require-install.cjs';
const { scripts } = JSON.parse(readFileSync('package.json', 'utf8'));
const { app } = JSON.parse(readFileSync('cdk.json', 'utf8'));
const rejection = (stderr: string) => ({ status: 1, stdout: '', stderr: `${stderr}\n` });
const options = { encoding: 'utf8' } as const;

it.each([
  'prepare',
  'start',
  'init',
  'ops',
  'dev',
])('npm run %s before npm ci names npm ci in place of a stack trace', (name) => {
  const cwd = temporaryDirectory();
  cpSync(CHECK, join(cwd, CHECK));
  const text = 'Run `npm ci` first. It installs the packages and the Node.js of this project.';
  expect(spawnSync('sh', ['-c', scripts[name]], { ...options, cwd })).toMatchObject(rejection(text));
});

describe('on a system for which npm has no Node.js', () => {
  /** Runs the check as on such a system, with this Node.js of the user. */
  const check = (version: string) => {
    const script = `
      for (const [name, value] of Object.entries({ version: '${version}', platform: 'sunos', arch: 'ppc64' }))
        Object.defineProperty(process, name, { value });
      require('./${CHECK}');`;
    return spawnSync(process.execPath, ['--eval', script], options);
  };

  it.each(['v20.20.2', 'v22.23.2'])('rejects %s and names the version to install', (version) => {
    const reason = `because this is ${version} and \`npm ci\` installed none for sunos-ppc64.`;
    expect(check(version)).toMatchObject(rejection(`Install Node.js 24 or newer, ${reason}`));
  });

  it.each(['v24.0.0', 'v26.10.0'])('uses %s', (version) => {
    expect(check(version)).toMatchObject({ status: 0, stdout: '', stderr: '' });
  });
});

it('the CDK checks the Node.js of npm ci and uses it, also if npm did not start the CDK', () => {
  const cwd = temporaryDirectory();
  mkdirSync(join(cwd, 'node_modules/.bin'), { recursive: true });
  writeFileSync(join(cwd, 'node_modules/.bin/node'), '#!/bin/sh\necho "$@"', { mode: 0o755 });
  const { stdout } = spawnSync('sh', ['-c', app], { ...options, cwd });
  expect(stdout).toBe(`${CHECK}\ninfra/app.ts\n`);
});

it('accepts the packages and the Node.js of npm ci', () => {
  expect(spawnSync(process.execPath, [CHECK], options)).toMatchObject({ status: 0, stdout: '', stderr: '' });
});
