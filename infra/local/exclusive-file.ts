import { DatabaseSync } from 'node:sqlite';
import { UserError } from '../user-error.ts';

const SQLITE_BUSY = 5; // https://sqlite.org/rescode.html

/**
 * Opens a SQLite file for this process alone. Returns `undefined` if another process uses it. The kernel releases the lock of a
 * process that was killed, so a lock is never stale. Throws `UserError`, for example for a directory of another user.
 */
export function openExclusively(path: string): DatabaseSync | undefined {
  let file: DatabaseSync | undefined;
  try {
    file = new DatabaseSync(path);
    file.exec('PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE; COMMIT');
    return file;
  } catch (error) {
    file?.close();
    const { errcode = 0, message } = error as Error & { errcode?: number };
    if ((errcode & 0xff) === SQLITE_BUSY) return undefined;
    throw new UserError(`Cannot use ${path}: ${message}.`);
  }
}
