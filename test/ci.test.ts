import { execFileSync, spawnSync } from 'node:child_process';
import { copyFileSync, existsSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { temporaryDirectory } from './support/after-file.ts';

const workflow = readFileSync('.github/workflows/ci.yml', 'utf8');
const nightly = readFileSync('.github/workflows/nightly.yml', 'utf8');
const release = readFileSync('.github/workflows/release.yml', 'utf8');
const { engines } = JSON.parse(readFileSync('package.json', 'utf8'));
/** The jobs of a workflow, after what is above them. */
const jobsOf = (text: string): string[] => text.split(/\n(?= {2}\w+:(?: #.*)?\n)/);

/** The matrix of the parts of `.ci/run` in a workflow. */
const partsOf = (text: string): string[] => /^ +part: \[(.+)\]$/m.exec(text)?.[1]?.split(', ') ?? [];

describe('the workflows', () => {
  it('run every part of .ci/run on the oldest supported Node, the slow ones at night', () => {
    const [, parts = ''] = /^parts='(.+)'$/m.exec(readFileSync('.ci/run', 'utf8')) ?? [];
    expect([...partsOf(workflow), ...partsOf(nightly)].sort()).toEqual(parts.split(' ').sort());
    expect(partsOf(nightly)).toEqual(['slow', 'fuzz', 'cloud']);
    for (const text of [workflow, nightly]) {
      expect(text).toMatch(/^ +- run: .*\.ci\/run "\$PART"$/m);
      expect(`>=${/node-version: (\d+)/.exec(text)?.[1]}`).toBe(engines.node);
    }
    expect(release).toMatch(/^ +- run: \.ci\/run$/m);
  });

  it('fetch all commits before the tests that build the previous release', () => {
    for (const job of [workflow, release].flatMap(jobsOf).filter((job) => job.includes('.ci/run')))
      expect(job).toMatch(/uses: actions\/checkout@.*\n {8}with:\n(?: {10}.*\n)* {10}fetch-depth: 0/);
  });

  it('run the tests of the client and of the local stack on the oldest Node that each needs', () => {
    const job = jobsOf(workflow).find((each) => each.startsWith('  platform:')) ?? '';
    const rows = [...job.matchAll(/\{ os: .*, node: (\d+), tests: (.*) \}/g)];
    const oldestWith = (tests: string) =>
      Math.min(...rows.flatMap(([, node, given = '']) => (given.includes(tests) ? Number(node) : [])));
    const [, ofPackage] =
      /engines: \{ node: '>=(\d+)/.exec(readFileSync('infra/commands/package/build.ts', 'utf8')) ?? [];
    const [, ofStack] = /MIN_MAJOR = (\d+)/.exec(readFileSync('infra/require-install.cjs', 'utf8')) ?? [];
    expect(oldestWith('test/unit/client')).toBe(Number(ofPackage));
    expect(oldestWith('test/stack/local')).toBe(Number(ofStack));
    expect(job).toMatch(/^ +- run: node .+ \$TESTS$/m); // `npm test` would use the Node.js of the lock file
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
  ])('%s has only the permissions it needs', (_, text, permissions) => {
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

it('a nightly job that does not succeed is reported by one without code of the repository or its packages', () => {
  const reports = jobsOf(nightly).filter((job) => job.includes('issues: write'));
  expect(reports).toHaveLength(1);
  const jobs = [...nightly.matchAll(/^ {2}(\w+):(?: #.*)?\n/gm)].flatMap(([, name = '']) => name);
  const others = jobs.slice(jobs.indexOf('part')).filter((name) => name !== 'report');
  expect(reports[0]).toContain(`    needs: [${others.join(', ')}]\n`);
  const isReported = others.map((name) => `needs.${name}.result != 'success'`).join(' || ');
  expect(reports[0]).toContain(`    if: always() && (${isReported})\n`);
  expect(reports[0]).not.toMatch(/checkout|node|npm|npx/);
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
