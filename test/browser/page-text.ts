import { EVENT_TYPES } from '../../lib/events/types.ts';

/*
 * The content of a page for review: a line for each row of a table, each list of options, each link and each term. Ids have the
 * digits that differ, and the event types, which many pages list, are a placeholder. A dialog that is shown again states only
 * what differs from its last content.
 */

/** A line of accessible content, and the lines inside it. */
interface Node {
  indent: string;
  text: string;
  children: Node[];
}

const IDS = /\b(key_(?=\d{12}\b)|(?:whk|evt)_(?=\d{26}\b))0*(\d+)\b/g;
const CELL = /^(cell|rowheader|columnheader) ("(?:[^"\\]|\\.)*")(:?)$/;
const OPTION = /^option ("(?:[^"\\]|\\.)*")( \[selected\])?$/;
const TYPES = EVENT_TYPES.join(' | ');

/** Returns the text of a page, and of what happens on it, as it is reviewed. */
export function reviewed(text: string): string {
  const lines = text.replace(IDS, '$1$2').split('\n');
  const dialogs = new Map<string, string[]>();
  const blocks: string[] = [];
  for (let i = 0; i < lines.length; ) {
    const kind = kindOf(lines[i]);
    const end = lines.findIndex((line, at) => at > i && kindOf(line) !== kind);
    const block = lines.slice(i, end === -1 ? lines.length : end);
    if (kind === 'content') blocks.push(...nodesOf(block).flatMap((node) => sinceLast(dialogs, linesOf(node))));
    else blocks.push(...(kind === 'hint' ? counted(block) : block));
    i += block.length;
  }
  return blocks.join('\n');
}

const kindOf = (line = '') => (/^ *- /.test(line) ? 'content' : /^# .*\w=/.test(line) ? 'hint' : 'other');

/** Hints in their order. What several elements have is stated once. */
function counted(hints: readonly string[]): string[] {
  const counts = Map.groupBy(hints, (hint) => hint);
  return [...counts].map(([hint, { length }]) => (length > 1 ? `${hint} (${length} times)` : hint));
}

function nodesOf(lines: readonly string[]): Node[] {
  const all: Node[] = [];
  const open: Node[] = [];
  for (const line of lines) {
    const [, indent = '', quotable = ''] = /^( *)- (.*)/.exec(line) ?? [];
    const [, quoted, end] = /^'(.*)'(:?)$/.exec(quotable) ?? [];
    const text = quoted === undefined ? quotable : quoted.replaceAll("''", "'") + end;
    const node = { indent, text, children: [] };
    while (open.length > 0 && (open.at(-1)?.indent ?? '') >= indent) open.pop();
    (open.at(-1)?.children ?? all).push(node);
    open.push(node);
  }
  return all;
}

function linesOf(node: Node): string[] {
  const { indent, text, children } = shortened(node);
  return [`${indent}- ${text}`, ...inPairs(children).flatMap(linesOf)];
}

/** Joins a term with its definition. */
const inPairs = (nodes: readonly Node[]): Node[] =>
  nodes.flatMap((node, i) => {
    const [, term] = /^term: (.*)/.exec(nodes[i - 1]?.text ?? '') ?? [];
    if (term !== undefined && /^definition\b/.test(node.text))
      return [{ ...node, text: node.text.replace(/^definition/, () => `term ${term}`) }];
    return node.text.startsWith('term: ') && /^definition\b/.test(nodes[i + 1]?.text ?? '') ? [] : [node];
  });

function shortened(node: Node): Node {
  const { indent, text, children } = node;
  const inOneLine = (line: string): Node => ({ indent, text: line, children: [] });
  const [first, ...others] = children;
  if (first?.text.startsWith('/url: ') && others.every((each) => each.children.length === 0))
    return inOneLine([text + first.text.slice(5), ...others.map((each) => each.text)].join(', '));
  if (/^row\b/.test(text) && children.length > 0 && children.every((each) => CELL.test(each.text)))
    return inOneLine(`row: ${children.map(cellText).join(' | ')}`);
  const options = children.map((each) => OPTION.exec(each.text));
  if (text.startsWith('combobox ') && options.length > 0 && options.every((each) => each !== null)) {
    const names = options.map(([, name = '']) => JSON.parse(name)).join(' | ');
    const selected = options.flatMap(([, name = '', isSelected]) => (isSelected ? JSON.parse(name) : []));
    return inOneLine(`${text} ${selected.join(' and ')} (of ${names.replace(TYPES, '{event types}')})`);
  }
  return node;
}

/** The content of a cell in its row, with brackets around headers. Its name is omitted if it is the text of the content. */
function cellText({ text, children }: Node): string {
  const [, kind, quoted = '""'] = CELL.exec(text) ?? [];
  const name: string = JSON.parse(quoted);
  const content = children.flatMap(linesOf).map((line) => line.trim().replace(/^- /, ''));
  const words = children.map(({ text }) => text.replace(/^\w+:? ?/, '').replace(/^"((?:[^"\\]|\\.)*)":?$/, '$1'));
  const shown = words.join(' ') === name ? content.join(', ') : [name, ...content].join(', ');
  return kind === 'cell' ? shown : `[${shown}]`;
}

/** Returns the lines, or the differences from the last time that the dialog was shown. */
function sinceLast(dialogs: Map<string, string[]>, lines: string[]): string[] {
  const [title = ''] = lines;
  const last = title.startsWith('- dialog ') ? dialogs.get(title) : undefined;
  dialogs.set(title, lines);
  if (!last) return lines;
  const removed = without(last, lines).map((line) => `  without ${line.trim().slice(2)}`);
  const added = without(lines, last).map((line) => `  with ${line.trim().slice(2)}`);
  return [title.replace(/:$/, ' again:'), ...removed, ...added];
}

/** The lines of a list that another one does not have, as often as it lacks them. */
function without(lines: readonly string[], others: readonly string[]): string[] {
  const rest = [...others];
  return lines.filter((line) => {
    const at = rest.indexOf(line);
    if (at !== -1) rest.splice(at, 1);
    return at === -1;
  });
}
