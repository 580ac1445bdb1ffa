import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, inject, it } from 'vitest';
import { bundlesOf } from '../support/bundles.ts';

/** The operations whose schemas a function contains. All others contain none. */
const OPERATIONS: Readonly<Record<string, readonly string[]>> = {
  keys: ['keys/operations'],
  tokens: ['keys/link-operations', 'keys/token-operations'],
  project: ['projects/operations'],
  webhooks: ['deliveries/operations', 'deliveries/recovery-operations', 'webhooks/operations'],
  events: ['events/operations'],
  documents: ['documents/operations'],
};

describe('the bundles', () => {
  const assets = readdirSync(inject('assembly')).filter((name) => name.startsWith('asset.'));

  it('have at most 600 KB each, and contain only code and the pages of the dashboard', () => {
    expect(assets.length).toBeGreaterThan(5);
    const more: string[] = [];
    for (const asset of assets) {
      const directory = join(inject('assembly'), asset);
      expect(statSync(join(directory, 'index.cjs')).size).toBeLessThanOrEqual(600 * 1024);
      more.push(...readdirSync(directory).filter((name) => name !== 'index.cjs'));
    }
    expect(more).toEqual(['site.json']);
    const map = readFileSync(join(inject('assembly'), 'source-maps/deliver.cjs.map'), 'utf8');
    expect(JSON.parse(map).sources).toContain('functions/deliver.ts');
  });

  it('contain all packages, and import nothing as an ES module, because all exports of `node:http` would load undici', () => {
    for (const asset of assets) {
      const code = readFileSync(join(inject('assembly'), asset, 'index.cjs'), 'utf8');
      expect(code).toContain('require("node:');
      expect(code).not.toMatch(/\bimport\(/);
      // The SDK tries to load this package, which is optional.
      expect(code).not.toMatch(/\brequire\("(?!node:|@aws-sdk\/signature-v4-crt")/);
    }
  });

  it('contain the operations of their function only, and the authorizer contains none', () => {
    for (const { name } of bundlesOf(inject('assembly'))) {
      const map = JSON.parse(readFileSync(join(inject('assembly'), `source-maps/${name}.cjs.map`), 'utf8'));
      const found = (map.sources as string[]).flatMap((file) => /^lib\/(.+[/-]operations)\.ts$/.exec(file)?.[1] ?? []);
      expect(found.sort(), name).toEqual(OPERATIONS[name] ?? []);
    }
  });

  // What an environment may never need is created when it is first used. `site.json` is what the dashboard serves.
  it('create no Intl object, open no stream, compile no large expression and do no I/O when they are imported', () => {
    const bundles = bundlesOf(inject('assembly'));
    expect(bundles.length).toBeGreaterThan(10);
    for (const { name, path, variables } of bundles) {
      const env = { ...process.env, AWS_REGION: 'us-east-1', ...variables };
      const script = join(import.meta.dirname, 'import-effects.cjs');
      const { stdout, stderr } = spawnSync(process.execPath, [script, path], { encoding: 'utf8', env });
      expect(stderr, name).toBe('');
      expect(JSON.parse(stdout), name).toEqual(name === 'dashboard' ? ['fs.readFileSync'] : []);
    }
  });
});
