// The browser imports this file too, so it must stay small.

import { ConflictError } from './errors.ts';

/** Runs at most `atOnce` actions concurrently. Others wait in their order. */
export function createLimiter(atOnce: number) {
  let underWay = 0;
  const waiting: (() => void)[] = [];
  return async <Value>(act: () => Promise<Value>): Promise<Value> => {
    if (underWay === atOnce) await new Promise<void>((resolve) => waiting.push(resolve));
    else underWay++;
    try {
      return await act();
    } finally {
      const next = waiting.shift();
      if (next) next();
      else underWay--;
    }
  };
}

/**
 * Waits until every promise has settled and then throws the first failure. `Promise.all` throws earlier, and Lambda would freeze
 * the work that is still running when the invocation ends.
 */
export async function allDone(promises: Iterable<Promise<unknown>>): Promise<void> {
  const results = await Promise.allSettled(promises);
  const failure = results.find(({ status }) => status === 'rejected') as PromiseRejectedResult | undefined;
  if (failure) throw failure.reason;
}

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
