import { isDeepStrictEqual } from 'node:util';

/** Returns the given members of a change whose values differ from the current ones. */
export function changedMembers<Change extends object>(change: Change, current: Record<string, unknown>): Change {
  const changed = Object.entries(change).filter(
    ([name, value]) => value !== undefined && !isDeepStrictEqual(value, current[name]),
  );
  return Object.fromEntries(changed) as Change;
}
