import { existsSync, mkdirSync, renameSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { readJsonFile } from '../json-file.ts';
import { onPath, UserError } from '../user-error.ts';
import { Demo } from './demo.ts';
import { openState, type State } from './services/state.ts';

/** The data that `npm start -- --keep` keeps. */
export interface Kept {
  /** The directory for the files of the database. */
  directory: string;
  state: State;
  /** Absent on the first start, or if the last start failed earlier. */
  demo: Demo | undefined;
  keepDemo(demo: Demo): void;
}

/**
 * Creates a directory and its parents. Throws `UserError`. The `recursive` option of Node never ends in file systems such as /proc,
 * in which no directory can be created.
 */
export function createDirectory(path: string, mode = 0o777): void {
  if (existsSync(`${path}/.`)) return;
  if (!existsSync(dirname(path))) createDirectory(dirname(path), mode);
  onPath(path, () => mkdirSync(path, mode));
}

/** Runs an operation on the files of a directory with kept data, if there is one. Throws `UserError` if a file is damaged. */
export function onKept<Result>(directory: string | undefined, run: () => Result): Result {
  try {
    return run();
  } catch (error) {
    if (directory === undefined || error instanceof UserError) throw error;
    const { message } = error as Error;
    throw new UserError(`The data in ${directory} is damaged (${message}). Delete it, or start without --keep.`);
  }
}

/** Opens the kept data and locks it until this process ends, because two stacks would both deliver pending messages. */
export function openKept(directory: string): Kept {
  createDirectory(directory, 0o700);
  const state = onKept(directory, () => openState(directory));
  if (!state) throw new UserError(`Another \`npm start -- --keep\` uses ${directory}. Stop it first.`);
  const path = join(directory, 'demo.json');
  const demo = existsSync(path) ? readJsonFile(path, Demo, `Delete ${directory}, or start without --keep.`) : undefined;
  return {
    directory,
    state,
    demo,
    keepDemo(given) {
      writeFileSync(`${path}.new`, JSON.stringify(given), { mode: 0o600 });
      renameSync(`${path}.new`, path);
    },
  };
}
