const CONTENT_LENGTH = /^content-length:(.*)$/i;
/** The coding of RFC 2616 §3.6 that changes nothing. */
const IDENTITY = /^transfer-encoding:[ \t]*identity[ \t]*$/i;
const CHUNKED = /^transfer-encoding:.*\bchunked[ \t]*$/i;

/**
 * The status line and the headers of a response in the form that strict parsers require. Changes only what RFC 9112 allows
 * recipients to accept: lines that end with LF alone (§2.2), folded headers (§5.2), a `Content-Length` that repeats the same value,
 * one in addition to chunks, which overrule it (§6.3), and the old coding `identity`. Different lengths stay, because they are an
 * error.
 */
export function strictHead(head: string): string {
  const lines = head
    .replace(/\r?\n[ \t]+/g, ' ')
    .split(/\r?\n/)
    .filter((line) => !IDENTITY.test(line));
  const lengths = lines.flatMap(
    (line) =>
      CONTENT_LENGTH.exec(line)?.[1]
        ?.split(',')
        .map((text) => text.trim()) ?? [],
  );
  const [length] = lengths;
  const isRepeated = lengths.length > 1 && lengths.every((each) => each === length);
  const isChunked = lines.some((line) => CHUNKED.test(line));
  if (lengths.length > 0 && (isRepeated || isChunked)) {
    const others = lines.filter((line) => !CONTENT_LENGTH.test(line));
    return [...others, ...(isChunked ? [] : [`Content-Length: ${length}`])].join('\r\n');
  }
  return lines.join('\r\n');
}
