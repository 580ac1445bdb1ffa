import type { Invariant } from './planted-bugs.ts';

/** A broken promise. */
export class Violation extends Error {
  readonly invariant: Invariant;
  constructor(invariant: Invariant, detail: string) {
    super(`${invariant}: ${detail}`);
    this.invariant = invariant;
  }
}

export function must(condition: boolean, invariant: Invariant, detail: string): asserts condition {
  if (!condition) throw new Violation(invariant, detail);
}
