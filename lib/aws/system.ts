import { randomBytes } from 'node:crypto';
import type { Random } from '../ids.ts';

/** Milliseconds since 1970. */
export type Clock = () => number;

/** The clock and the randomness of the machine: handed to whatever needs them. */
export const system: { clock: Clock; random: Random } = { clock: () => Date.now(), random: randomBytes };
