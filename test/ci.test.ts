import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';

const workflow = readFileSync('.github/workflows/ci.yml', 'utf8');
const dependabot = readFileSync('.github/dependabot.yml', 'utf8');
const { engines } = JSON.parse(readFileSync('package.json', 'utf8'));

describe('the workflow', () => {
  it('runs .ci/run on the oldest supported Node', () => {
    expect(workflow).toMatch(/^ +- run: \.ci\/run$/m);
    expect(`>=${/node-version: (\d+)/.exec(workflow)?.[1]}`).toBe(engines.node);
  });

  it('pins actions by commit, and has only read permissions', () => {
    const actions = [...workflow.matchAll(/uses: (.+)/g)].map(([, action]) => action);
    expect(actions.length).toBeGreaterThan(0);
    for (const action of actions) expect(action).toMatch(/^[\w-]+\/[\w-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$/);
    expect(workflow.match(/permissions:\n(?: +.+\n)+/g)).toEqual(['permissions:\n  contents: read\n']);
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
