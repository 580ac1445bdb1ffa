import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { buildSync } from 'esbuild';
import { describe, expect, inject, it, onTestFinished, vi } from 'vitest';
import { bundleOptions } from '../../../infra/bundle.ts';
import { assemble, forgetUnused, inputHash } from '../../../infra/local/assembly.ts';
import { assetOf, type FunctionProperties } from '../../../infra/local/lambda/lambda.ts';
import { temporaryDirectory } from '../../support/after-file.ts';
import { readTemplate } from './gateway.ts';

const directory = temporaryDirectory();

describe('the assembly', () => {
  it('is created once if nothing changes, and is marked as used at the start and every minute', async () => {
    vi.useFakeTimers({ toFake: ['setInterval'] });
    onTestFinished(() => void vi.useRealTimers());
    const assembly = inject('assembly');
    const before = new Date(Date.now() - 120_000);
    utimesSync(assembly, before, before);
    expect(await Promise.all([assemble(), assemble()])).toEqual([assembly, assembly]);
    expect(statSync(assembly).mtime).not.toEqual(before);
    utimesSync(assembly, before, before);
    vi.advanceTimersByTime(60_000);
    expect(statSync(assembly).mtime).not.toEqual(before);
  });

  it('replaces old ones', async () => {
    const old = Array.from({ length: 5 }, (_, i) => join(dirname(inject('assembly')), `old-${i}`));
    onTestFinished(() => {
      for (const path of old) rmSync(path, { recursive: true, force: true });
    });
    for (const path of old) {
      mkdirSync(path, { recursive: true });
      utimesSync(path, 0, 0);
    }
    await assemble();
    expect(old.every((path) => existsSync(path))).toBe(false);
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
    ['context of the app', 'cdk.json'],
    ['values that the CDK looked up', 'cdk.context.json'],
    ['version of the release', 'package.json'],
    ['version of a dependency', 'package-lock.json'],
    ['installed dependency', 'node_modules/.package-lock.json'],
    ['setting of the compiler', 'tsconfig.json'],
  ])('changes with the %s', (_name, file) => {
    const root = mkdtempSync(join(directory, 'root-'));
    for (const folder of [
      'functions/site/dashboard',
      'functions/site/docs/guides',
      'lib/deliveries',
      'infra',
      'node_modules',
    ])
      mkdirSync(join(root, folder), { recursive: true });
    writeFileSync(join(root, file), 'before');
    const before = inputHash(root);
    expect(inputHash(root)).toBe(before);
    writeFileSync(join(root, file), 'after');
    const after = inputHash(root);
    renameSync(join(root, file), join(root, `${file}2`));
    const renamed = inputHash(root);
    expect(new Set([before, after, renamed]).size).toBe(3);
    cpSync(join(root, `${file}2`), join(root, file));
    rmSync(join(root, `${file}2`));
    expect(inputHash(root)).toBe(after);
  });

  it('changes with the settings and the variables of the CDK', () => {
    const before = inputHash();
    const withSettings = inputHash(undefined, { alarms: { email: 'a@example.com' } });
    vi.stubEnv('CDK_DEFAULT_REGION', 'region-of-no-user');
    onTestFinished(() => void vi.unstubAllEnvs());
    expect(new Set([before, withSettings, inputHash()]).size).toBe(3);
  });

  it('contains the same bundles as separate builds', () => {
    const functions = readTemplate().ofType<FunctionProperties>('AWS::Lambda::Function');
    const bundle = (id: string) => {
      const properties = functions.find((fn) => fn.id.startsWith(id))?.properties as FunctionProperties;
      return readFileSync(join(inject('assembly'), assetOf(properties), 'index.cjs'), 'utf8');
    };
    const alone = (entry: string) =>
      buildSync({ ...bundleOptions, entryPoints: [`functions/${entry}.ts`], write: false }).outputFiles[0]?.text;
    expect(bundle('CreateProject')).toBe(alone('create-project'));
    expect(bundle('Dashboard')).toBe(alone('dashboard'));
  });
});
