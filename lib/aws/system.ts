import { randomBytes } from 'node:crypto';
import type { Random } from '../ids.ts';

export interface System {
  /** Milliseconds since 1970. */
  clock(): number;
  random: Random;
}

/** The clock and the randomness of the machine, which are passed as arguments. */
export const system: System = { clock: () => Date.now(), random: randomBytes };
