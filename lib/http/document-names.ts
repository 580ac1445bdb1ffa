import * as v from 'valibot';
import { isDocumentKey, isKeyPrefix, isPattern } from '../documents/patterns.ts';
import type { Operation } from './operation.ts';
import { documentParameter } from './path-parameters.ts';

/** The rules of document keys, of prefixes of keys, and of patterns. */
const NAME_RULES: ReadonlySet<unknown> = new Set([isDocumentKey, isKeyPrefix, isPattern]);

/** The schema of a document key in the path. Any other invalid parameter is an id that does not exist. */
export const documentKeySchema = ({ parameters }: Pick<Operation, 'parameters'>) =>
  v.object(parameters.key === documentParameter ? { key: documentParameter.schema } : {});

/** Whether a text in the place of a document key, a prefix or a pattern cannot be one. */
export function hasInvalidName(
  operation: Operation,
  { path, query, json }: { path: object; query: object | null; json: unknown },
): boolean {
  const { body = v.strictObject({}) } = operation;
  const results = [
    v.safeParse(documentKeySchema(operation), path),
    v.safeParse(v.object(operation.query), query ?? {}),
    v.safeParse(body, json),
  ];
  return results.some(({ issues = [] }) => issues.some(({ requirement }) => NAME_RULES.has(requirement)));
}
