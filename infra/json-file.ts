import { readFileSync } from 'node:fs';
import * as v from 'valibot';
import { onPath, UserError } from './user-error.ts';

/** Reads a JSON file that this project wrote. Throws `UserError` with the remedy if the file is damaged or of another release. */
export function readJsonFile<S extends v.GenericSchema>(path: string, schema: S, remedy: string): v.InferOutput<S> {
  const text = onPath(path, () => readFileSync(path, 'utf8'));
  const { success, output } = v.safeParse(v.pipe(v.string(), v.parseJson(), schema), text);
  if (success) return output;
  throw new UserError(`${path} is damaged, or another release wrote it. ${remedy}`);
}
