import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  utimesSync,
} from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { compileCache, localDirectory, projectRoot } from '../project-root.ts';
import type { SettingsInput } from '../settings.ts';
import { UserError } from '../user-error.ts';

/** The inputs of synthesis. The lock files represent `node_modules`. */
const FOLDERS = ['functions', 'infra', 'lib'];
const FILES = [
  'CHANGELOG.md',
  'cdk.context.json',
  'package.json',
  'package-lock.json',
  'node_modules/.package-lock.json',
  'tsconfig.json',
];
/** The number of recent assemblies to keep, in addition to those in use. Each has about 30 MB. */
const KEPT_ASSEMBLIES = 4;
/** How often a process marks its assembly as used. After three intervals without a mark, the assembly is unused. */
const IN_USE_EVERY_MS = 60_000;

const directory = join(localDirectory, 'assemblies');

/**
 * Returns a directory with the synthesized stack, as from `cdk synth` but without validation. Synthesizes again only if an input
 * has changed.
 */
export async function assemble(settings: SettingsInput = {}): Promise<string> {
  const assembly = join(directory, inputHash(projectRoot, settings));
  if (!existsSync(assembly)) {
    mkdirSync(directory, { recursive: true });
    const unfinished = mkdtempSync(join(directory, 'unfinished-'));
    try {
      await synthesizeApart(unfinished, settings);
      renameSync(unfinished, assembly);
    } catch (error) {
      rmSync(unfinished, { recursive: true, force: true });
      if (!existsSync(assembly)) throw error; // otherwise another process was faster
    }
  }
  const use = () => existsSync(assembly) && utimesSync(assembly, new Date(), new Date());
  use();
  setInterval(use, IN_USE_EVERY_MS).unref();
  forgetUnused(directory);
  return assembly;
}

/** Synthesizes in a child process, which releases the 300 MB of the CDK and runs in parallel to the start. */
async function synthesizeApart(outdir: string, settings: SettingsInput): Promise<void> {
  const script = fileURLToPath(new URL('./synthesis-process.ts', import.meta.url));
  const env = {
    ...process.env,
    CDK_VALIDATION: 'false',
    NODE_COMPILE_CACHE: compileCache,
  };
  const child = spawn(process.execPath, [script, outdir, JSON.stringify(settings)], {
    stdio: ['ignore', 'inherit', 'inherit'],
    env,
  });
  const kill = () => {
    child.kill('SIGKILL');
    rmSync(outdir, { recursive: true, force: true });
  };
  process.once('exit', kill);
  const [code] = await once(child, 'exit');
  process.off('exit', kill);
  if (code !== 0) throw new UserError('Synthesis of the stack failed. See the error above.');
}

/** A hash of the settings, and of the names and contents of all inputs. */
export function inputHash(root = projectRoot, settings: SettingsInput = {}): string {
  const hash = createHash('sha256');
  const variables = Object.entries(process.env).filter(([name]) => name.startsWith('CDK_'));
  hash.update(JSON.stringify([process.version, variables.sort(), settings]));
  const inFolders = FOLDERS.flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' }).map((name) => join(folder, name)),
  );
  for (const file of [...inFolders, ...FILES].sort()) {
    const path = join(root, file);
    const isFile = statSync(path, { throwIfNoEntry: false })?.isFile() ?? false;
    if (isFile) hash.update(JSON.stringify([file, createHash('sha256').update(readFileSync(path)).digest('hex')]));
  }
  return hash.digest('hex').slice(0, 32);
}

/** Deletes all assemblies in a directory except the most recent ones and those in use. */
export function forgetUnused(directory: string): void {
  const byAge = readdirSync(directory)
    .map((name) => join(directory, name))
    .map((path) => ({ path, usedAt: statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0 }))
    .sort((a, b) => b.usedAt - a.usedAt);
  const isUnused = ({ usedAt }: { usedAt: number }) => usedAt < Date.now() - 3 * IN_USE_EVERY_MS;
  for (const { path } of byAge.slice(KEPT_ASSEMBLIES).filter(isUnused)) rmSync(path, { recursive: true, force: true });
}
