import { execFileSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readdirSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { temporaryDirectory } from '../../support/after-file.ts';

const ENGINES = resolve('test/stack/engines');

/**
 * Installs the engines, and creates a folder whose programs find their packages and the one of this repository, but nothing else of it.
 */
export function engineHome(): { home: string; tarball: string } {
  const quiet = ['--ignore-scripts', '--no-audit', '--no-fund'];
  execFileSync('npm', ['ci', '--prefix', ENGINES, '--prefer-offline', ...quiet], {
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  const home = mkdtempSync(join(ENGINES, 'node_modules/.run-'));
  const build = ['infra/commands/package/build.ts', join(temporaryDirectory(), 'package')];
  const tarball = execFileSync(process.execPath, build, { encoding: 'utf8' }).trim();
  const client = join(home, 'node_modules/@document-sync-service/client');
  mkdirSync(client, { recursive: true });
  execFileSync('tar', ['--extract', '--file', tarball, '--strip-components=1', '--directory', client]);
  return { home, tarball };
}

/** Copies the programs of this folder. */
export function copyPrograms(directory: string): void {
  mkdirSync(directory, { recursive: true });
  for (const file of readdirSync(ENGINES))
    if (file.endsWith('.mjs')) cpSync(join(ENGINES, file), join(directory, file));
}
