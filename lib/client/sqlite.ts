/** The part of `node:sqlite` that the package uses. */
export interface Database {
  exec(sql: string): void;
  prepare(sql: string): {
    run(...values: unknown[]): unknown;
    get(...values: unknown[]): unknown;
    all(...values: unknown[]): unknown[];
  };
  close(): void;
}
/** The part of `node:fs` that the package uses. */
interface FileSystem {
  mkdirSync(path: string, options: { recursive: boolean; mode: number }): void;
  openSync(path: string, flags: string, mode: number): number;
  closeSync(file: number): void;
}
interface Runtime {
  process?: {
    getBuiltinModule?(name: 'node:sqlite'): { DatabaseSync: new (path: string) => Database } | undefined;
    getBuiltinModule?(name: 'node:fs'): FileSystem;
  };
}

/** The message names the oldest Node.js that has SQLite. */
export class MissingSqliteError extends Error {
  override message = 'Node.js 22.13 or newer';
}

/**
 * Opens a file that survives the end of the process and a power failure, and keeps its lock. Two processes with one file would publish
 * events twice, so the second one gets an error.
 */
export function openDatabase(path: string, directory?: string): Database {
  const { process } = globalThis as Runtime;
  const sqlite = process?.getBuiltinModule?.('node:sqlite');
  if (!process?.getBuiltinModule || !sqlite) throw new MissingSqliteError();
  let database: Database | undefined;
  try {
    const files = process.getBuiltinModule('node:fs');
    if (directory !== undefined) files.mkdirSync(directory, { recursive: true, mode: 0o700 });
    if (path !== ':memory:') createFile(path, files);
    database = new sqlite.DatabaseSync(path);
    database.exec('PRAGMA locking_mode = EXCLUSIVE; PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL');
    database.exec('BEGIN IMMEDIATE; COMMIT');
    return database;
  } catch (error) {
    database?.close();
    if ((error as Error).message === 'database is locked') throw new Error('another process uses it');
    throw error;
  }
}

/**
 * Creates a file that only the user of the process can read, because it contains documents. SQLite gives its other files the same mode.
 * An existing file stays closed, because closing it would release the lock of another database in this process (POSIX).
 */
function createFile(path: string, { openSync, closeSync }: FileSystem): void {
  try {
    closeSync(openSync(path, 'wx', 0o600));
  } catch (error) {
    if ((error as { code?: string }).code !== 'EEXIST') throw error;
  }
}
