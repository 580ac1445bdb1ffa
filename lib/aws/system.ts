import { randomBytes } from 'node:crypto';
import type { Random } from '../ids.ts';

/** Milliseconds since 1970. */
export type Clock = () => number;

export interface System {
  clock: Clock;
  random: Random;
}

/** The clock and the randomness of the machine, which are passed as arguments. */
export const system: System = { clock: () => Date.now(), random: randomBytes };
