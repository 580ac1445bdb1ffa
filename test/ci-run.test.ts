import { spawnSync } from 'node:child_process';
import { copyFileSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { temporaryDirectory } from './support/after-file.ts';

const { scripts } = JSON.parse(readFileSync('package.json', 'utf8'));

describe('.ci/run', () => {
  /** Logs its call, states a version of Java, writes an empty report, creates the environment for Python, and fails if it must. */
  const STUB = `#!/usr/bin/env bash
line="\${0##*/} $*"; echo "$line" >> "$LOG"; echo 'version "17'
file=$(sed -n 's/.*--outputFile.json=\\([^ ]*\\).*/\\1/p' <<< "$line")
[ -z "$file" ] || echo '{"numPassedTests":1,"numFailedTests":0,"testResults":[]}' > "$file"
[[ "$line" != "python3 -m venv"* ]] || { mkdir -p "$3/bin"; cp "$0" "$3/bin/pip"; cp "$0" "$3/bin/zizmor"; }
[[ -z "$FAILING" || "$line" != "$FAILING"* ]]`;

  /** Runs the script with commands that do nothing, except that those with this beginning fail. */
  function run(FAILING = '', ...parts: string[]) {
    const directory = temporaryDirectory();
    for (const folder of ['bin', '.ci']) mkdirSync(join(directory, folder));
    copyFileSync('.ci/run', join(directory, '.ci/run'));
    for (const name of ['npm', 'npx', 'python3', 'java', 'go', 'apt-get'])
      writeFileSync(join(directory, 'bin', name), STUB, { mode: 0o755 });
    const LOG = join(directory, 'log');
    writeFileSync(LOG, '');
    const PATH = `${join(directory, 'bin')}:${process.env.PATH}`;
    const env = { ...process.env, PATH, LOG, FAILING, TMPDIR: directory };
    const { status, stdout, stderr } = spawnSync(join(directory, '.ci/run'), parts, { env, encoding: 'utf8' });
    const ran = readFileSync(LOG, 'utf8').trim().split('\n');
    return { status, stdout, stderr, ran, last: stdout.trim().split('\n').at(-1) };
  }

  it('passes if every check and suite of package.json does, and fails with any of them', () => {
    const { status, ran, last } = run();
    expect([status, last]).toEqual([0, '13 passed, 0 failed']);
    const checks = Object.keys(scripts).filter((name) => /^(test.*|typecheck|lint|synth)$/.test(name));
    for (const command of [
      'npm ci',
      ...checks.map((name) => `npm run ${name}`),
      'npx node test/measure/fuzz/main.ts',
      'zizmor ',
    ]) {
      expect(
        ran.some((line) => line.startsWith(command)),
        command,
      ).toBe(true);
      const failed = run(command);
      expect([failed.status, failed.last], command).toEqual([
        1,
        expect.stringMatching(/^\d+ passed, [1-9]\d* failed$/),
      ]);
    }
  });

  it.each([
    ['check', ['python3 -c import ensurepip', 'python3 -m venv', 'pip install', 'zizmor']],
    ['test', ['python3 -c import ensurepip', 'python3 -m venv', 'pip install']],
    ['long', ['java -version', 'go version', 'python3 -c import ensurepip', 'python3 -m venv', 'pip install']],
    ['slow', ['go version', 'python3 -c import ensurepip']],
    ['database', ['java -version']],
    ['fuzz', ['python3 -c import ensurepip', 'python3 -m venv', 'pip install']],
    ['cloud', ['python3 -c import ensurepip', 'python3 -m venv', 'pip install']],
  ])('prepares the languages that the tests of the part %s run', (part, expected) => {
    const prepared = run('', part).ran.filter((line) => !/^(npm|npx) /.test(line));
    expect(prepared).toEqual(expected.map((start) => expect.stringMatching(new RegExp(`^${start}`))));
  });

  it('runs only the named parts, and states the time of each step', () => {
    const { ran, stdout } = run('', 'check');
    expect(ran.filter((line) => line.startsWith('npm'))).toEqual([
      'npm ci --no-audit --no-fund',
      ...['typecheck', 'lint', 'synth'].map((name) => `npm run ${name}`),
    ]);
    expect(stdout).toMatch(/== Time\n +\d+ s {2}Dependencies\n +\d+ s {2}Types\n/);
    const unknown = run('', 'check', 'all');
    expect([unknown.status, unknown.stderr, unknown.ran]).toEqual([
      1,
      expect.stringMatching(/^The parts are: check test /),
      [''],
    ]);
  });
});
