/** Quotes a text as one word for a POSIX shell (IEEE 1003.1, "Quoting"). No character is special between single quotes. */
const quoted = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`;

/** The command that sends the same bytes again. With `-g`, brackets and braces in the URL are literal. */
export function curlCommand(url: string, headers: Readonly<Record<string, string>>, body: string): string {
  const lines = Object.entries(headers).map(([name, value]) => `-H ${quoted(`${name}: ${value}`)}`);
  return [`curl -g ${quoted(url)}`, ...lines, `--data-raw ${quoted(body)}`].join(' \\\n  ');
}
