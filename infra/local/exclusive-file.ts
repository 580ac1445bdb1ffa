import { DatabaseSync } from 'node:sqlite';

const SQLITE_BUSY = 5; // https://sqlite.org/rescode.html

/**
 * Opens a SQLite file for this process alone. Returns `undefined` if another process uses it. The kernel releases the lock of a
 * process that was killed, so a lock is never stale.
 */
export function openExclusively(path: string): DatabaseSync | undefined {
  const file = new DatabaseSync(path);
  try {
    file.exec('PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE; COMMIT');
    return file;
  } catch (error) {
    file.close();
    const { errcode } = error as { errcode?: number };
    if (errcode !== undefined && (errcode & 0xff) === SQLITE_BUSY) return undefined;
    throw error;
  }
}
