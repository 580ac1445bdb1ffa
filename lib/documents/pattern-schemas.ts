import * as v from 'valibot';
import { isDocumentKey, isKeyPrefix, isPattern, MAX_KEY_LENGTH, MAX_SEGMENTS } from './patterns.ts';

const segmentsOf = (segment: string): string => `${segment}(:${segment}){0,${MAX_SEGMENTS - 1}}$`;
const LITERAL_SEGMENT = '[A-Za-z0-9._~@-]{1,64}';
const NO_DOT_SEGMENT = '^(?!\\.{1,2}$)';

/** The JSON Schema of a document key. */
export const DOCUMENT_KEY_SCHEMA = {
  maxLength: MAX_KEY_LENGTH,
  pattern: NO_DOT_SEGMENT + segmentsOf(LITERAL_SEGMENT),
} as const;

export const DocumentKey = v.pipe(
  v.string('must be a string'),
  v.check(isDocumentKey, 'must be 1 to 16 segments of A-Z a-z 0-9 . _ ~ @ - joined by ":", and not "." or ".."'),
  v.metadata({ jsonSchema: DOCUMENT_KEY_SCHEMA }),
);
export const KeyPrefix = v.pipe(
  v.string('must be a string'),
  v.check(isKeyPrefix, 'must be 1 to 16 segments of A-Z a-z 0-9 . _ ~ @ - joined by ":"'),
  v.metadata({ jsonSchema: { maxLength: MAX_KEY_LENGTH, pattern: `^${segmentsOf(LITERAL_SEGMENT)}` } }),
);
export const Pattern = v.pipe(
  v.string('must be a string'),
  v.check(isPattern, 'must be a document key in which a whole segment may be "*"'),
  v.metadata({
    jsonSchema: { maxLength: MAX_KEY_LENGTH, pattern: NO_DOT_SEGMENT + segmentsOf(`(${LITERAL_SEGMENT}|\\*)`) },
  }),
);
