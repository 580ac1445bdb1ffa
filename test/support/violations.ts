import type * as v from 'valibot';
import { check } from '../../lib/schema.ts';

/** Returns the violations of an input in the format of the API, with the field and the detail. */
export function violationsOf(schema: v.GenericSchema, input: unknown): string[] {
  const result = check(schema, input);
  return 'violations' in result ? result.violations.map(({ field, detail }) => `${field} ${detail}`) : [];
}
