import { type ChildProcess, spawn } from 'node:child_process';
import { rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { UserError } from '../../user-error.ts';
import { onKept } from '../kept.ts';
import { startMemoryDatabase } from '../memory/server.ts';
import type { DataFile } from './data-file.ts';
import { startDynamoDbLocal } from './dynamodb-local.ts';
import { dynoxideBinary, type Started, startDynoxide } from './dynoxide.ts';

/**
 * Databases with the protocol of DynamoDB. `dynoxide` is a binary, if npm has one for the platform. `memory` runs in this process
 * on every platform. Both listen on loopback. `dynamodb-local` is the Java process of Amazon. It listens on every interface,
 * because no option or JVM property sets an address.
 */
export const DATABASES = ['dynoxide', 'memory', 'dynamodb-local'] as const;
export type DatabaseName = (typeof DATABASES)[number];

export interface Database {
  name: DatabaseName;
  endpoint: string;
  /** The file of the data. `dynamodb-local` has its own format. */
  data?: DataFile | undefined;
  stop(): void;
}

/** Starts a database on a free port. Its data is in `directory`. Without a directory, the data is deleted when it stops. */
export async function startDatabase(name = defaultDatabase(), directory?: string): Promise<Database> {
  if (name === 'memory') return { name, ...(await startMemoryDatabase(directory)) };
  const port = await freePort();
  const { child, open, temporary } = await START[name](port, directory);
  const guard = startGuard(child, temporary);
  child.once('exit', () => guard.kill('SIGKILL')); // another process could get the same id
  let file: ReturnType<NonNullable<typeof open>> | undefined;
  const stop = () => {
    process.off('exit', stop);
    file?.close();
    guard.kill('SIGKILL');
    child.kill('SIGKILL');
    if (temporary) rmSync(temporary, { recursive: true, force: true, maxRetries: 3 });
  };
  process.once('exit', stop);
  const endpoint = `http://127.0.0.1:${port}`;
  await untilResponding(name, endpoint, child, directory);
  file = onKept(directory, () => open?.());
  return { name, endpoint, data: file, stop };
}

/**
 * Kills the database and removes its temporary directory when this process ends without doing so, for example by SIGKILL.
 * The guard notices that the kernel closes the other end of its standard input.
 */
function startGuard({ pid }: ChildProcess, temporary = ''): ChildProcess {
  const script = 'read -r _; kill -9 "$1"; if [ -n "$2" ]; then rm -rf "$2"; fi';
  // Runs in a separate session, so that Ctrl-C in the terminal does not end the guard before this process.
  return spawn('sh', ['-c', script, 'guard', String(pid), temporary], {
    stdio: ['pipe', 'ignore', 'ignore'],
    detached: true,
  });
}

/** Dynoxide if npm has a package for the platform, and otherwise the database in memory. */
export const defaultDatabase = (): DatabaseName => (dynoxideBinary() === null ? 'memory' : 'dynoxide');

type Start = (port: number, directory: string | undefined) => Started | Promise<Started>;

const START: Record<Exclude<DatabaseName, 'memory'>, Start> = {
  dynoxide(port, directory) {
    const binary = dynoxideBinary();
    if (binary !== null) return startDynoxide(binary, port, directory);
    throw new UserError(`Use --database memory. Dynoxide has no package for ${process.platform}-${process.arch}.`);
  },
  'dynamodb-local': async (port, directory) => ({ child: await startDynamoDbLocal(port, directory) }),
};

function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer().once('error', reject);
    server.listen(0, '127.0.0.1', () => {
      const address = server.address();
      server.close(() => resolve(typeof address === 'object' && address ? address.port : 0));
    });
  });
}

async function untilResponding(name: string, endpoint: string, child: ChildProcess, directory?: string): Promise<void> {
  const remedy =
    directory === undefined ? '' : ` If the data in ${directory} is damaged, delete it, or start without --keep.`;
  for (let tries = 0; tries < 300; tries++) {
    if (child.exitCode !== null)
      throw new UserError(`The database ${name} exited with code ${child.exitCode}.${remedy}`);
    const response = await fetch(endpoint).catch(() => undefined);
    if (response) return;
    await sleep(100);
  }
  child.kill('SIGKILL');
  throw new UserError(`The database ${name} did not start within 30 seconds.`);
}
