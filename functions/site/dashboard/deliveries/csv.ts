type Cell = string | number | null;

/**
 * Matches text that a spreadsheet could read as a formula or a command: after spaces, quotes or invisible characters, after a
 * semicolon as the separator, and with full-width signs (OWASP, "CSV Injection"; ASVS 5.0, 1.2.10).
 */
const FORMULA = /^[\s\p{C}'";,]*[=+\-@＝＋－＠]|^[\t\r\n\0]/u;

/** Formats rows according to RFC 4180, with every text in quotes. A text that looks like a formula gets a leading apostrophe. */
export const csv = (rows: readonly (readonly Cell[])[]): string =>
  rows.map((cells) => `${cells.map(textOf).join(',')}\r\n`).join('');

function textOf(cell: Cell): string {
  if (typeof cell !== 'string') return cell === null ? '' : String(cell);
  return `"${FORMULA.test(cell) ? "'" : ''}${cell.replaceAll('"', '""')}"`;
}
