import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, inject, it } from 'vitest';

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
});
