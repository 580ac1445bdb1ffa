/** The maximum number of characters in an excerpt, without the ellipses. */
const EXCERPT = 110;

/** Returns the part of a text with the most words of a query, the first one of several, in whole words. */
export function excerptOf(text: string, words: readonly string[]): string {
  const lower = text.toLowerCase();
  const starts = [0, ...words.flatMap((word) => positionsOf(word, lower)).sort((a, b) => a - b)].map((at) =>
    at <= EXCERPT / 3 ? 0 : text.lastIndexOf(' ', at - EXCERPT / 3) + 1,
  );
  const wordsAt = (start: number) => words.filter((word) => lower.slice(start, start + EXCERPT).includes(word)).length;
  const from = starts.reduce((best, start) => (wordsAt(start) > wordsAt(best) ? start : best));
  const space = text.lastIndexOf(' ', from + EXCERPT);
  const isWhole = text.length <= from + EXCERPT;
  const to = isWhole ? text.length : space > from ? space : from + EXCERPT;
  return `${from > 0 ? '…' : ''}${text.slice(from, to)}${isWhole ? '' : '…'}`;
}

function positionsOf(word: string, text: string): number[] {
  const positions: number[] = [];
  for (let at = text.indexOf(word); at >= 0; at = text.indexOf(word, at + 1)) positions.push(at);
  return positions;
}

/** Splits a text at its matches, ignoring case. Every second part is a match. */
export function splitAtMatches(text: string, words: readonly string[]): string[] {
  const patterns = words.map((word) => word.replace(/[^\p{L}\p{N}]/gu, '\\$&'));
  return words.length === 0 ? [text] : text.split(new RegExp(`(${patterns.join('|')})`, 'gi'));
}
