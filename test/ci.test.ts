import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';

const workflow = readFileSync('.github/workflows/ci.yml', 'utf8');
const dependabot = readFileSync('.github/dependabot.yml', 'utf8');
const { engines, dependencies, devDependencies } = JSON.parse(readFileSync('package.json', 'utf8'));

describe('the workflow', () => {
  it('runs what .ci/run runs, on the oldest Node that must work', () => {
    expect(workflow).toMatch(/^ +- run: \.ci\/run$/m);
    expect(`>=${/node-version: (\d+)/.exec(workflow)?.[1]}`).toBe(engines.node);
  });

  it('names actions by their commit, and may read only', () => {
    const actions = [...workflow.matchAll(/uses: (.+)/g)].map(([, action]) => action);
    expect(actions.length).toBeGreaterThan(0);
    for (const action of actions) expect(action).toMatch(/^[\w-]+\/[\w-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$/);
    expect(workflow.match(/permissions:\n(?: +.+\n)+/g)).toEqual(['permissions:\n  contents: read\n']);
  });
});

describe('the updates', () => {
  it('leave alone only what is a dependency, and that has an exact version', () => {
    const all = { ...dependencies, ...devDependencies };
    const ignored = [...dependabot.matchAll(/dependency-name: '?([@\w/-]+)/g)].map(([, name]) => name ?? '');
    expect(ignored).toEqual(expect.arrayContaining(['aws-cdk', 'vitest', 'node']));
    for (const name of ignored) expect(all[name], name).toMatch(/^\d/);
  });
});
