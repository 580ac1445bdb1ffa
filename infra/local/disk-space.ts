import { existsSync, mkdirSync, statfsSync } from 'node:fs';
import { dirname } from 'node:path';
import { onPath, UserError } from '../user-error.ts';

const MIN_FREE_BYTES = 16 * 2 ** 20;
const SQLITE_FULL = 13; // https://sqlite.org/rescode.html

const message = (directory: string) =>
  `The disk of ${directory} is full. Free some space, or choose another disk with --directory.`;

/**
 * Creates a directory and its parents. Throws `UserError`. The `recursive` option of Node never ends in file systems such as /proc,
 * in which no directory can be created.
 */
export function createDirectory(path: string, mode = 0o777): void {
  if (existsSync(`${path}/.`)) return;
  if (!existsSync(dirname(path))) createDirectory(dirname(path), mode);
  onPath(path, () => mkdirSync(path, mode));
}

/** Throws `UserError` if the disk of a directory has too little free space. */
export function requireDiskSpace(directory: string, statfs: typeof statfsSync = statfsSync): void {
  const { bavail, blocks, bsize } = statfs(directory);
  // Some network file systems report no size.
  if (blocks > 0 && bavail * bsize < MIN_FREE_BYTES) throw new UserError(message(directory));
}

/** The `UserError` for a write that failed because the disk is full. Returns other errors unchanged. */
export function explainFullDisk(error: unknown, directory: string): unknown {
  const { code, errcode } = error as { code?: unknown; errcode?: unknown };
  return code === 'ENOSPC' || errcode === SQLITE_FULL ? new UserError(message(directory)) : error;
}
