import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';

const workflow = readFileSync('.github/workflows/ci.yml', 'utf8');
const nightly = readFileSync('.github/workflows/nightly.yml', 'utf8');
const dependabot = readFileSync('.github/dependabot.yml', 'utf8');
const { engines, scripts } = JSON.parse(readFileSync('package.json', 'utf8'));

describe('the workflow', () => {
  it('runs .ci/run on the oldest supported Node', () => {
    expect(workflow).toMatch(/^ +- run: \.ci\/run$/m);
    expect(`>=${/node-version: (\d+)/.exec(workflow)?.[1]}`).toBe(engines.node);
  });

  it('runs tests that exist', () => {
    const run = readFileSync('.ci/run', 'utf8');
    const named = [...run.matchAll(/test\/[\w/.-]+(?:\{[\w,]+\}[\w.]*)?/g)].flatMap(([path]) => {
      const [, before = path, names = '', after = ''] = /^(.*)\{(.*)\}(.*)$/.exec(path) ?? [];
      return names.split(',').map((name) => `${before}${name}${after}`);
    });
    expect(named.length).toBeGreaterThan(3);
    expect(named.filter((path) => !existsSync(path))).toEqual([]);
  });

  it.each([
    ['ci.yml', workflow, '  contents: read\n'],
    ['nightly.yml', nightly, '  contents: read\n  issues: write\n'],
  ])('%s pins actions by commit, and has only the permissions it needs', (_, text, permissions) => {
    const actions = [...text.matchAll(/uses: (.+)/g)].map(([, action]) => action);
    expect(actions.length).toBeGreaterThan(0);
    for (const action of actions) expect(action).toMatch(/^[\w-]+\/[\w-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$/);
    expect(text.match(/permissions:\n(?: +.+\n)+/g)).toEqual([`permissions:\n${permissions}`]);
  });

  it('simulates a million new schedules every night, and reports a failure with its log', () => {
    const [, command = ''] = /npm run --silent (\w+) -- --seeds 1000000 --from "\$from"/.exec(nightly) ?? [];
    expect(Object.keys(scripts)).toContain(command);
    const [, fromOf = ''] = /from=\$\(\( (.+) \)\)/.exec(nightly) ?? [];
    const from = (date: string) =>
      Number(
        execFileSync('bash', ['-c', `echo $((${fromOf.replace('$(date +%s)', String(Date.parse(date) / 1000))}))`]),
      );
    expect(from('2026-01-02T02:17:00Z') - from('2026-01-01T02:17:00Z')).toBe(1_000_000);
    expect(from('2037-01-01T02:17:00Z')).toBeLessThan(2 ** 32);
    expect(nightly).toContain('set -o pipefail');
    expect(nightly).toMatch(/if: failure\(\)[\s\S]*tail -n 40 simulation\.log[\s\S]*gh issue create/);
  });
});

describe('the updates', () => {
  it('ignore only existing dependencies with exact versions', () => {
    const updates = [...dependabot.matchAll(/npm\n +directory: \/?(\S*)([\s\S]*?)(?=\n\n|$)/g)];
    expect(updates.map(([, directory]) => directory)).toEqual(['', 'test/measure/mutation', 'test/measure/generators']);
    for (const [, directory = '', rest = ''] of updates) {
      const manifest = JSON.parse(readFileSync(join(directory, 'package.json'), 'utf8'));
      const all: Record<string, string> = { ...manifest.dependencies, ...manifest.devDependencies };
      const ignored = [...rest.matchAll(/dependency-name: '?([@\w/-]+)/g)].map(([, name = '']) => name);
      expect(ignored.length, directory).toBeGreaterThan(0);
      for (const name of ignored) {
        const meant = Object.keys(all).filter((each) => (name.endsWith('/') ? each.startsWith(name) : each === name));
        expect(meant.length, name).toBeGreaterThan(0);
        for (const each of meant) expect(all[each], each).toMatch(/^\d/);
      }
    }
  });
});
