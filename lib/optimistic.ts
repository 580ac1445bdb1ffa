import { ConflictError } from './errors.ts';

/** Those that come at the same time are let through one by one; more tries than this mean something is wrong. */
const MAX_TRIES = 20;

/**
 * Does what begins with reading a record and ends with changing it if it is still the same; again, as long as the result is
 * `undefined`: somebody else was faster. Throws a ConflictError if others always were; then nothing was changed.
 */
export async function optimistically<T>(change: () => Promise<T | undefined>): Promise<T> {
  for (let tries = 0; tries < MAX_TRIES; tries++) {
    const result = await change();
    if (result !== undefined) return result;
  }
  throw new ConflictError(`Lost ${MAX_TRIES} races against other changes of the same record`);
}
