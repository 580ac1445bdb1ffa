import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, inject, it, onTestFinished, vi } from 'vitest';
import { assemble, forgetUnused, inputHash } from '../../../infra/local/assembly.ts';
import { temporaryDirectory } from '../../support/after-file.ts';

const directory = temporaryDirectory();

describe('the assembly', () => {
  it('is created once if nothing changes, replaces old ones, and is marked as used at the start and every minute', async () => {
    vi.useFakeTimers({ toFake: ['setInterval'] });
    const assembly = inject('assembly');
    const old = Array.from({ length: 5 }, (_, i) => join(dirname(assembly), `old-${i}`));
    onTestFinished(() => {
      vi.useRealTimers();
      for (const path of old) rmSync(path, { recursive: true, force: true });
    });
    for (const path of old) {
      mkdirSync(path);
      utimesSync(path, 0, 0);
    }
    const before = new Date(Date.now() - 120_000);
    utimesSync(assembly, before, before);
    expect(await Promise.all([assemble(), assemble()])).toEqual([assembly, assembly]);
    expect(old.every((path) => existsSync(path))).toBe(false);
    expect(statSync(assembly).mtime).not.toEqual(before);
    utimesSync(assembly, before, before);
    vi.advanceTimersByTime(60_000);
    expect(statSync(assembly).mtime).not.toEqual(before);
  });

  it('is kept while a process uses it, regardless of newer assemblies', () => {
    const all = mkdtempSync(join(directory, 'all-'));
    const minutes = { 'in use': 2, left: 4, new1: 0, new2: 0, new3: 0, new4: 0 };
    for (const [name, age] of Object.entries(minutes)) {
      mkdirSync(join(all, name));
      const usedAt = new Date(Date.now() - age * 60_000);
      utimesSync(join(all, name), usedAt, usedAt);
    }
    forgetUnused(all);
    expect(readdirSync(all).sort()).toEqual(['in use', 'new1', 'new2', 'new3', 'new4']);
  });

  it.each([
    ['content of a function', 'functions/deliver.ts'],
    ['content deep in lib', 'lib/deliveries/decide.ts'],
    ['content of a construct', 'infra/stack.ts'],
    ['style of the dashboard', 'functions/site/dashboard/styles.css'],
    ['changelog, which is a page', 'CHANGELOG.md'],
    ['text of a guide', 'functions/site/docs/guides/tokens.md'],
    ['values that the CDK looked up', 'cdk.context.json'],
    ['version of the release', 'package.json'],
    ['version of a dependency', 'package-lock.json'],
    ['installed dependency', 'node_modules/.package-lock.json'],
    ['setting of the compiler', 'tsconfig.json'],
  ])('changes with the %s', (_name, file) => {
    const root = mkdtempSync(join(directory, 'root-'));
    for (const folder of ['functions', 'infra', 'lib', dirname(file)])
      mkdirSync(join(root, folder), { recursive: true });
    writeFileSync(join(root, file), 'before');
    const before = inputHash(root);
    writeFileSync(join(root, file), 'after');
    const after = inputHash(root);
    renameSync(join(root, file), join(root, `${file}2`));
    expect(new Set([before, after, inputHash(root)]).size).toBe(3);
  });

  it('changes with the settings and the variables of the CDK', () => {
    const before = inputHash();
    const withSettings = inputHash(undefined, { alarms: { email: 'a@example.com' } });
    vi.stubEnv('CDK_DEFAULT_REGION', 'region-of-no-user');
    onTestFinished(() => void vi.unstubAllEnvs());
    expect(new Set([before, withSettings, inputHash()]).size).toBe(3);
  });
});
