import * as v from 'valibot';

/** Characters of a document key or pattern, in all. */
export const MAX_KEY_LENGTH = 512;
export const MAX_SEGMENTS = 16;
const SEGMENT = /^[A-Za-z0-9._~@-]{1,64}$/;

/** Segments joined by `:`; case-sensitive. */
export const isDocumentKey = (text: string): boolean => hasSegments(text, (segment) => SEGMENT.test(segment));

/** A document key in which a whole segment may be `*`. */
export const isPattern = (text: string): boolean =>
  hasSegments(text, (segment) => segment === '*' || SEGMENT.test(segment));

function hasSegments(text: string, isValid: (segment: string) => boolean): boolean {
  if (text.length > MAX_KEY_LENGTH) return false;
  const segments = text.split(':');
  return segments.length <= MAX_SEGMENTS && segments.every(isValid);
}

/** A trailing `*` matches one or more segments, any other exactly one. */
export const matchesPattern = (pattern: string, key: string): boolean => covers(pattern, key);

export const matchesAny = (patterns: readonly string[], key: string): boolean =>
  patterns.some((pattern) => matchesPattern(pattern, key));

/** Whether every key that `inner` matches is matched by `outer` too. A key is the pattern of itself alone. */
export function covers(outer: string, inner: string): boolean {
  const outers = outer.split(':');
  const inners = inner.split(':');
  const isOpen = outers.at(-1) === '*';
  if (isOpen ? inners.length < outers.length : inners.length !== outers.length) return false;
  const compared = isOpen ? outers.slice(0, -1) : outers;
  return compared.every((segment, i) => segment === '*' || segment === inners[i]);
}

/** The literal text that every key of a pattern begins with. */
export function literalPrefix(pattern: string): string {
  const star = pattern.indexOf('*');
  return star < 0 ? pattern : pattern.slice(0, star);
}

const segmentsOf = (segment: string): string => `^${segment}(:${segment}){0,${MAX_SEGMENTS - 1}}$`;

export const DocumentKey = v.pipe(
  v.string('must be a string'),
  v.check(isDocumentKey, 'must be 1 to 16 segments of A-Z a-z 0-9 . _ ~ @ - joined by ":"'),
  v.metadata({ jsonSchema: { maxLength: MAX_KEY_LENGTH, pattern: segmentsOf('[A-Za-z0-9._~@-]{1,64}') } }),
);
export const Pattern = v.pipe(
  v.string('must be a string'),
  v.check(isPattern, 'must be a document key in which a whole segment may be "*"'),
  v.metadata({ jsonSchema: { maxLength: MAX_KEY_LENGTH, pattern: segmentsOf('([A-Za-z0-9._~@-]{1,64}|\\*)') } }),
);
