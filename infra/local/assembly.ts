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
import { StartError } from './services/database.ts';

/** What a synthesized stack is made of. The lock files stand for all of `node_modules`. */
const FOLDERS = ['functions', 'infra', 'lib'];
const FILES = [
  'cdk.json',
  'cdk.context.json',
  'package.json',
  'package-lock.json',
  'node_modules/.package-lock.json',
  'tsconfig.json',
];
/** The most recent ones are kept, and those in use: each has some 30 MB. */
const KEPT_ASSEMBLIES = 4;
/** How often a process that uses one says so; after three times that, nobody does. */
const IN_USE_EVERY_MS = 60_000;

const directory = join(localDirectory, 'assemblies');

/**
 * A directory with the synthesized stack, as `cdk synth` makes it but not validated. It is made anew only if anything has
 * changed that it is made of.
 */
export async function assemble(): Promise<string> {
  const assembly = join(directory, inputHash());
  if (!existsSync(assembly)) {
    mkdirSync(directory, { recursive: true });
    const unfinished = mkdtempSync(join(directory, 'unfinished-'));
    try {
      await synthesizeApart(unfinished);
      renameSync(unfinished, assembly);
    } catch (error) {
      rmSync(unfinished, { recursive: true, force: true });
      if (!existsSync(assembly)) throw error; // else another process was faster
    }
  }
  const use = () => existsSync(assembly) && utimesSync(assembly, new Date(), new Date());
  use();
  setInterval(use, IN_USE_EVERY_MS).unref();
  forgetUnused(directory);
  return assembly;
}

/** In a process of its own: the 300 MB that the CDK takes are given back, and the start goes on meanwhile. */
async function synthesizeApart(outdir: string): Promise<void> {
  const script = fileURLToPath(new URL('./synthesis-process.ts', import.meta.url));
  const env = {
    ...process.env,
    CDK_VALIDATION: 'false',
    NODE_COMPILE_CACHE: compileCache,
  };
  const child = spawn(process.execPath, [script, outdir], { stdio: ['ignore', 'inherit', 'inherit'], env });
  const kill = () => {
    child.kill('SIGKILL');
    rmSync(outdir, { recursive: true, force: true });
  };
  process.once('exit', kill);
  const [code] = await once(child, 'exit');
  process.off('exit', kill);
  if (code !== 0) throw new StartError('Synthesis of the stack failed. See the error above.');
}

/** Changes with the name or content of anything that the assembly is made of. */
export function inputHash(root = projectRoot): string {
  const hash = createHash('sha256');
  const settings = Object.entries(process.env).filter(([name]) => name.startsWith('CDK_'));
  hash.update(JSON.stringify([process.version, settings.sort()]));
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

/** Removes all assemblies in a directory but the most recent ones and those in use. */
export function forgetUnused(directory: string): void {
  const byAge = readdirSync(directory)
    .map((name) => join(directory, name))
    .map((path) => ({ path, usedAt: statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0 }))
    .sort((a, b) => b.usedAt - a.usedAt);
  const isUnused = ({ usedAt }: { usedAt: number }) => usedAt < Date.now() - 3 * IN_USE_EVERY_MS;
  for (const { path } of byAge.slice(KEPT_ASSEMBLIES).filter(isUnused)) rmSync(path, { recursive: true, force: true });
}
