import { ConflictError } from './errors.ts';

/** Tries before a conflict is thrown. Concurrent writers succeed one after another, so more tries indicate a problem. */
const MAX_TRIES = 20;

/**
 * Repeats an action that reads a record and changes it if it is unchanged. A result of `undefined` means that another writer was
 * faster. Throws a ConflictError if other writers were always faster, and then nothing was changed.
 */
export async function optimistically<T>(change: () => Promise<T | undefined>): Promise<T> {
  for (let tries = 0; tries < MAX_TRIES; tries++) {
    const result = await change();
    if (result !== undefined) return result;
  }
  throw new ConflictError(`Lost ${MAX_TRIES} races against other changes of the same record`);
}
