import * as v from 'valibot';

/** Characters of a document key or pattern, in all. */
export const MAX_KEY_LENGTH = 512;
export const MAX_SEGMENTS = 16;
const SEGMENT = /^[A-Za-z0-9._~@-]{1,64}$/;

// A key is one segment of a URL path, and every client removes these two (RFC 3986 §5.2.4), even written as %2E
// (§6.2.2.2): a document of that name could be pushed but never requested.
const DOT_SEGMENT = /^\.{1,2}$/;

/** Segments joined by `:`; case-sensitive; not `.` or `..`. */
export const isDocumentKey = (text: string): boolean => !DOT_SEGMENT.test(text) && isKeyPrefix(text);

/** What document keys may begin with, up to the end of a segment: `.` is no key, but `.:a` is. */
export const isKeyPrefix = (text: string): boolean => hasSegments(text, (segment) => SEGMENT.test(segment));

/** A document key in which a whole segment may be `*`. */
export const isPattern = (text: string): boolean =>
  !DOT_SEGMENT.test(text) && hasSegments(text, (segment) => segment === '*' || SEGMENT.test(segment));

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

const segmentsOf = (segment: string): string => `${segment}(:${segment}){0,${MAX_SEGMENTS - 1}}$`;
const LITERAL_SEGMENT = '[A-Za-z0-9._~@-]{1,64}';
const NO_DOT_SEGMENT = '^(?!\\.{1,2}$)';

export const DocumentKey = v.pipe(
  v.string('must be a string'),
  v.check(isDocumentKey, 'must be 1 to 16 segments of A-Z a-z 0-9 . _ ~ @ - joined by ":", and not "." or ".."'),
  v.metadata({ jsonSchema: { maxLength: MAX_KEY_LENGTH, pattern: NO_DOT_SEGMENT + segmentsOf(LITERAL_SEGMENT) } }),
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
