/** The least space for the second column of a row. With less, it starts on a line of its own. */
const MIN_COLUMN = 28;
/** The indentation of a second column on a line of its own. */
const INDENT = 6;

/** A row of two columns, such as `  --port N   port of the API`. */
const ROW = /^( {2}\S.*? {2,})(\S.*)$/;

/** Breaks the lines of a help so that they fit a terminal. Other lines of a paragraph become one. Words are never broken. */
export function fitted(help: string, columns: number): string {
  return help
    .replace(/^(?! )\S.*(?:\n(?! )\S.*)+/gm, (paragraph) => paragraph.replaceAll('\n', ' '))
    .split('\n')
    .map((line) => {
      const [, first = '', second = ''] = ROW.exec(line) ?? [];
      if (second === '') return broken(line, columns, 0);
      if (columns - first.length >= MIN_COLUMN) return first + broken(second, columns, first.length);
      return `${first.trimEnd()}\n${' '.repeat(INDENT)}${broken(second, columns, INDENT)}`;
    })
    .join('\n');
}

/** Breaks a text that starts at a column. The other lines start there too. */
function broken(text: string, columns: number, indent: number): string {
  const lines = [''];
  for (const word of text.split(/(?<=\S) /)) {
    const line = lines.at(-1) ?? '';
    if (line === '') lines[lines.length - 1] = word;
    else if (indent + line.length + 1 + word.length <= columns) lines[lines.length - 1] = `${line} ${word}`;
    else lines.push(word);
  }
  return lines.join(`\n${' '.repeat(indent)}`);
}
