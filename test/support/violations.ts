import type * as v from 'valibot';
import { check } from '../../lib/schema.ts';

/** What is wrong with an input, as the API says it: the field, below `root`, and the detail. */
export function violationsOf(schema: v.GenericSchema, input: unknown, root?: string): string[] {
  const result = check(schema, input, root);
  return 'violations' in result ? result.violations.map(({ field, detail }) => `${field} ${detail}`) : [];
}
