import { execFileSync, spawnSync } from 'node:child_process';
import { copyFileSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { temporaryDirectory } from './support/after-file.ts';

const workflow = readFileSync('.github/workflows/ci.yml', 'utf8');
const nightly = readFileSync('.github/workflows/nightly.yml', 'utf8');
const release = readFileSync('.github/workflows/release.yml', 'utf8');
const { engines, scripts } = JSON.parse(readFileSync('package.json', 'utf8'));
/** The jobs of a workflow, after what is above them. */
const jobsOf = (text: string): string[] => text.split(/\n(?= {2}\w+:(?: #.*)?\n)/);

describe('the workflow', () => {
  it('runs .ci/run on the oldest supported Node', () => {
    expect(workflow).toMatch(/^ +- run: \.ci\/run$/m);
    expect(`>=${/node-version: (\d+)/.exec(workflow)?.[1]}`).toBe(engines.node);
  });

  it('fetches all commits before .ci/run, because its tests build the previous release', () => {
    const workflows = readdirSync('.github/workflows').map((name) => readFileSync(`.github/workflows/${name}`, 'utf8'));
    const jobs = workflows.flatMap(jobsOf).filter((job) => job.includes('.ci/run'));
    expect(jobs).toHaveLength(2);
    for (const job of jobs)
      expect(job).toMatch(/uses: actions\/checkout@.*\n {8}with:\n(?: {10}.*\n)* {10}fetch-depth: 0/);
  });

  it('runs tests that exist', () => {
    const run = readFileSync('.ci/run', 'utf8');
    const named = [...run.matchAll(/test\/[\w/.-]+(?:\{[\w,]+\}[\w.]*)?/g)].flatMap(([path]) => {
      const [, before = path, names = '', after = ''] = /^(.*)\{(.*)\}(.*)$/.exec(path) ?? [];
      return names.split(',').map((name) => `${before}${name}${after}`);
    });
    expect(named.length).toBeGreaterThan(2);
    expect(named.filter((path) => !existsSync(path))).toEqual([]);
  });

  it.each([
    ['ci.yml', workflow, [['contents: read']]],
    ['nightly.yml', nightly, [['contents: read'], ['issues: write']]],
    ['release.yml', release, [['contents: read'], ['contents: write', 'id-token: write', 'attestations: write']]],
  ])('%s pins actions by commit, and has only the permissions it needs', (_, text, permissions) => {
    const actions = [...text.matchAll(/uses: (.+)/g)].map(([, action]) => action);
    expect(actions.length).toBeGreaterThan(0);
    for (const action of actions) expect(action).toMatch(/^[\w-]+\/[\w-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$/);
    const blocks = [...text.matchAll(/^( *)permissions:\n((?:\1 +.+\n)+)/gm)].map(([, , lines = '']) =>
      lines
        .trim()
        .split('\n')
        .map((line) => line.replace(/#.*/, '').trim()),
    );
    expect(blocks).toEqual(permissions);
    expect(text.match(/permissions:/g)).toHaveLength(permissions.length);
  });
});

it('only a job without code of the repository or its packages can write issues', () => {
  const report = jobsOf(nightly).filter((job) => job.includes('issues: write'));
  expect(report).toHaveLength(1);
  expect(report[0]).toMatch(
    /^ {4}needs: simulate\n {4}if: failure\(\) && needs\.simulate\.outputs\.simulation == 'failure'$/m,
  );
  expect(report[0]).not.toMatch(/checkout|node|npm|npx/);
  expect(nightly).toMatch(/^ {4}outputs:\n {6}simulation: \$\{\{ steps\.simulate\.outcome \}\}$/m);
});

describe('.ci/run', () => {
  /** Logs its call, states a version of Java, writes an empty report, creates the environment for Python, and fails if it must. */
  const STUB = `#!/usr/bin/env bash
line="\${0##*/} $*"; echo "$line" >> "$LOG"; echo 'version "17'
file=$(sed -n 's/.*--outputFile.json=\\([^ ]*\\).*/\\1/p' <<< "$line")
[ -z "$file" ] || echo '{"numPassedTests":1,"numFailedTests":0,"testResults":[]}' > "$file"
[[ "$line" != "python3 -m venv"* ]] || { mkdir -p "$3/bin"; cp "$0" "$3/bin/pip"; }
[[ -z "$FAILING" || "$line" != "$FAILING"* ]]`;

  /** Runs the script with commands that do nothing, except that those with this beginning fail. */
  function run(FAILING = '') {
    const directory = temporaryDirectory();
    for (const folder of ['bin', '.ci']) mkdirSync(join(directory, folder));
    copyFileSync('.ci/run', join(directory, '.ci/run'));
    for (const name of ['npm', 'npx', 'python3', 'java', 'go', 'apt-get'])
      writeFileSync(join(directory, 'bin', name), STUB, { mode: 0o755 });
    const LOG = join(directory, 'log');
    const env = {
      ...process.env,
      PATH: `${join(directory, 'bin')}:${process.env.PATH}`,
      LOG,
      FAILING,
      TMPDIR: directory,
    };
    const { status, stdout } = spawnSync(join(directory, '.ci/run'), { env, encoding: 'utf8' });
    const ran = readFileSync(LOG, 'utf8').split('\n');
    return { status, ran, last: stdout.trim().split('\n').at(-1) };
  }

  it('passes if every check and suite of package.json does, and fails with any of them', () => {
    const { status, ran, last } = run();
    expect([status, last]).toEqual([0, '6 passed, 0 failed']);
    const checks = Object.keys(scripts).filter((name) => /^(test.*|typecheck|lint|synth)$/.test(name));
    const commands = checks.map((name) => (name === 'test' ? 'npm test' : `npm run ${name}`));
    for (const command of [...commands, 'npx node test/measure/fuzz/main.ts']) {
      expect(
        ran.some((line) => line.startsWith(command)),
        command,
      ).toBe(true);
      expect(run(command).status, command).toBe(1);
    }
  });
});

it('Dependabot updates every list of dependencies', () => {
  const files = execFileSync('git', ['ls-files', '*package.json', '*requirements.txt'], { encoding: 'utf8' });
  const expected = files
    .trim()
    .split('\n')
    .map((path) => `${path.endsWith('.json') ? 'npm' : 'pip'} ${dirname(`/${path}`)}`);
  const text = readFileSync('.github/dependabot.yml', 'utf8');
  const updates = text.matchAll(/package-ecosystem: (\S+)\n +director(?:y|ies):((?:\s+(?:- )?\/\S*)+)/g);
  const updated = [...updates].flatMap(([, kind, folders = '']) =>
    [...folders.matchAll(/\/\S*/g)].map(([folder]) => `${kind} ${folder}`),
  );
  expect(updated.sort()).toEqual([...expected, 'github-actions /'].sort());
});

describe('a release', () => {
  const [, newest = ''] = /^## \[(\d.*?)\]/m.exec(readFileSync('CHANGELOG.md', 'utf8')) ?? [];
  const [, indented = ''] = /name: Create the files of the release\n +run: \|\n((?: {10}.*\n)+)/.exec(release) ?? [];
  const script = indented.replace(/^ {10}/gm, '');
  // Its own folder has no repository and no registry.
  const create = (tag: string, version = newest) => {
    const directory = temporaryDirectory();
    copyFileSync('CHANGELOG.md', join(directory, 'CHANGELOG.md'));
    writeFileSync(join(directory, 'package.json'), JSON.stringify({ version }));
    const commands = `git() { echo "$*" > git.log; }; npm() { echo "$*"; }\n${script}`;
    const options = { cwd: directory, env: { ...process.env, GITHUB_REF_NAME: tag }, stdio: 'pipe' } as const;
    execFileSync('bash', ['-c', commands], options);
    const read = (file: string) => readFileSync(join(directory, file), 'utf8');
    return {
      notes: read('notes.md'),
      git: read('git.log'),
      sbom: read(`release/document-sync-service-${version}.cdx.json`),
    };
  };

  it('contains the source, a bill of materials and the notes of the changelog', () => {
    const { notes, git, sbom } = create(`v${newest}`);
    expect(notes).toMatch(/\S/);
    expect(notes).not.toMatch(/^## /m);
    expect(git).toMatch(/^archive .*--output release\/document-sync-service-.*\.tar\.gz HEAD$/m);
    expect(sbom).toBe('sbom --sbom-format cyclonedx\n');
  });

  it('fails for a tag that is not the version of the package, and for a version without notes', () => {
    expect(() => create('v9.9.9')).toThrow();
    expect(() => create('v9.9.9-dev', '9.9.9-dev')).toThrow();
  });

  it('fails before any other code runs if main does not contain the commit', () => {
    const repository = temporaryDirectory();
    const git = (...args: string[]) =>
      execFileSync('git', ['-c', 'user.name=a', '-c', 'user.email=a@example.com', ...args], {
        cwd: repository,
        stdio: 'pipe',
      });
    git('init', '--quiet');
    for (const text of ['first', 'second', 'other']) git('commit', '--allow-empty', '--quiet', '--message', text);
    git('update-ref', 'refs/remotes/origin/main', 'HEAD~1');
    const steps = (jobsOf(release).find((job) => job.startsWith('  ci:')) ?? '').split(/\n {6}- /).slice(1);
    const [, script = ''] = /^name: Check that main contains the commit\n +run: (.+)/.exec(steps[1] ?? '') ?? [];
    const isReleased = (commit: string) => {
      git('checkout', '--quiet', commit);
      return spawnSync('bash', ['-c', script], { cwd: repository }).status === 0;
    };
    const [latest, ...ofMain] = git('log', '--format=%H').toString().trim().split('\n');
    expect(ofMain.map(isReleased)).toEqual([true, true]);
    expect(isReleased(latest ?? '')).toBe(false);
  });

  it('needs the protected environment for every job that can write', () => {
    const writing = jobsOf(release).filter((job) => /: write\b/.test(job));
    expect(writing).toHaveLength(1);
    expect(writing[0]).toMatch(/^ {4}needs: ci\n {4}environment: release\b/m);
  });
});
