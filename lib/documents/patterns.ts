// The browser imports this file too, so it must stay small.

/** Maximum length of a document key or pattern, in characters. */
export const MAX_KEY_LENGTH = 512;
export const MAX_SEGMENTS = 16;
const SEGMENT = /^[A-Za-z0-9._~@-]{1,64}$/;

// A key is one segment of a URL path. Every client removes these two (RFC 3986 §5.2.4), even as %2E (§6.2.2.2), so such a
// document could be pushed but never requested.
const DOT_SEGMENT = /^\.{1,2}$/;

/** Segments joined by `:`. Case-sensitive, and not `.` or `..`. */
export const isDocumentKey = (text: string): boolean => !DOT_SEGMENT.test(text) && isKeyPrefix(text);

/** A prefix of document keys that ends at a segment. `.` is not a key, but `.:a` is. */
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

/** Whether a pattern matches a name. A name that is no document key matches none, although `*` would match its segments. */
export const matchesAny = (patterns: readonly string[], name: string): boolean =>
  isDocumentKey(name) && patterns.some((pattern) => matchesPattern(pattern, name));

/** Whether a key is the prefix, or starts with it and another segment. */
export const startsWithSegments = (key: string, prefix: string): boolean =>
  key === prefix || key.startsWith(`${prefix}:`);

/** Whether `outer` matches every key that `inner` matches. A key is a pattern that matches only itself. */
export function covers(outer: string, inner: string): boolean {
  const outers = outer.split(':');
  const inners = inner.split(':');
  const isOpen = outers.at(-1) === '*';
  if (isOpen ? inners.length < outers.length : inners.length !== outers.length) return false;
  return outers.every((segment, i) => segment === '*' || segment === inners[i]);
}

/** Document keys from `first` to `last`, both included, in the order of their characters. */
export interface KeyRange {
  first: string;
  last: string;
}

// Before and after every character of a document key (US-ASCII).
const LOWEST = '!';
const HIGHEST = '\x7f';

/** The smallest number of ranges, in order, that contain every key that matches a pattern. They contain other keys too. */
export function rangesOf(patterns: readonly string[]): KeyRange[] {
  const sorted = patterns.map(rangeOf).sort((a, b) => (a.first < b.first ? -1 : 1));
  const merged: KeyRange[] = [];
  for (const range of sorted) {
    const before = merged.at(-1);
    if (!before || range.first > before.last) merged.push(range); // otherwise it is inside, because ranges of prefixes never overlap partially
  }
  return merged;
}

/** The intersection of two ranges. */
export function intersect(some: readonly KeyRange[], others: readonly KeyRange[]): KeyRange[] {
  return some.flatMap((a) =>
    others.flatMap((b) => {
      const first = a.first > b.first ? a.first : b.first;
      const last = a.last < b.last ? a.last : b.last;
      return first <= last ? [{ first, last }] : [];
    }),
  );
}

function rangeOf(pattern: string): KeyRange {
  const star = pattern.indexOf('*');
  if (star < 0) return { first: pattern, last: pattern };
  const prefix = pattern.slice(0, star);
  return { first: prefix || LOWEST, last: prefix + HIGHEST };
}
