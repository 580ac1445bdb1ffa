/** The maximum number of characters in an excerpt, without the ellipses. */
const EXCERPT = 110;

/** Returns the part of a text around its first match, in whole words. */
export function excerptOf(text: string, words: readonly string[]): string {
  const lower = text.toLowerCase();
  const at = words.map((word) => lower.indexOf(word)).find((position) => position >= 0) ?? 0;
  const from = at <= EXCERPT / 3 ? 0 : text.lastIndexOf(' ', at - EXCERPT / 3) + 1;
  const space = text.lastIndexOf(' ', from + EXCERPT);
  const isWhole = text.length <= from + EXCERPT;
  const to = isWhole ? text.length : space > from ? space : from + EXCERPT;
  return `${from > 0 ? '…' : ''}${text.slice(from, to)}${isWhole ? '' : '…'}`;
}
