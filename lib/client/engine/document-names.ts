const MAX_KEY_LENGTH = 512;
const MAX_SEGMENTS = 16;
const SEGMENT = /^[A-Za-z0-9._~@-]{1,64}$/;

/** Whether a name can be the key of a document: up to 16 segments joined by `:`, and not `.` or `..`. */
export const isDocumentKey = (name: string): boolean =>
  name.length <= MAX_KEY_LENGTH &&
  !/^\.{1,2}$/.test(name) &&
  name.split(':').length <= MAX_SEGMENTS &&
  name.split(':').every((segment) => SEGMENT.test(segment));

/**
 * Escapes the characters that a document key cannot have: `notes/2024 plan` becomes `notes~2F2024~20plan`. Different names have different
 * keys. A name with an empty segment, or one that is too long, has no valid key.
 */
export const keyOf = (name: string): string =>
  encodeURIComponent(name.toWellFormed())
    .replace(/[~!'()*]/g, (char) => `~${char.charCodeAt(0).toString(16).toUpperCase()}`)
    .replaceAll('%3A', ':')
    .replaceAll('%', '~');

/** Whether one of the patterns of a token matches the key of a document. */
export const matchesAny = (patterns: readonly string[], name: string): boolean =>
  isDocumentKey(name) && patterns.some((pattern) => matches(pattern.split(':'), name.split(':')));

/** A trailing `*` matches one or more segments, any other exactly one. */
function matches(pattern: readonly string[], segments: readonly string[]): boolean {
  const isOpen = pattern.at(-1) === '*';
  if (isOpen ? segments.length < pattern.length : segments.length !== pattern.length) return false;
  return pattern.every((part, i) => part === '*' || part === segments[i]);
}
