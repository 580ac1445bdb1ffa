import { Logger } from '@aws-lambda-powertools/logger';

/** One line of JSON per unit of work: a dotted past-tense event and its fields. Never a body, a secret or a key. */
export const log = new Logger();
