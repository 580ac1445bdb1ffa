import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Marked, type Token, type Tokens } from 'marked';
import { projectRoot } from '../../../../infra/project-root.ts';
import { BASE_URL } from '../../../../lib/http/static.ts';
import { eventCatalogue } from './event-catalogue.ts';
import { anchorOf, code, languageName, tabs } from './html.ts';
import { keyTable } from './key-table.ts';

/** The content of a page of the documentation. */
export interface Article {
  /** The path below `/docs/`. Empty for the first page. */
  name: string;
  title: string;
  html: string;
}

/** Placeholders in guides for content that is generated from the code. */
const GENERATED: Record<string, () => string> = {
  '{events}': eventCatalogue,
  '{express}': () => code(snippetsIn(textOf('receivers'), 'Express').get('javascript') ?? '', 'javascript'),
  '{keys}': keyTable,
};

/** Returns the guides with these file names. */
export const guides = (...files: readonly string[]): Article[] =>
  files.map((file) => {
    const markdown = textOf(file);
    const title = /^# (.*)$/m.exec(markdown)?.[1] ?? file;
    return { name: file === 'index' ? '' : file, title, html: render(markdown) };
  });

const textOf = (file: string): string =>
  readFileSync(join(projectRoot, 'functions/site/docs/guides', `${file}.md`), 'utf8');

/** The code of the guide that verifies signatures with a library and by hand, by language. The dashboard shows it too. */
export function verification(): [language: string, withLibrary: string, byHand: string][] {
  const text = textOf('receiving');
  const byHand = snippetsIn(text, 'Verify by hand');
  return [...snippetsIn(text, 'Verify with a library')].map(([language, code]) => [
    languageName(language),
    code,
    byHand.get(language) ?? '',
  ]);
}

/** Returns the code blocks in a section of a Markdown text, by language. */
export function snippetsIn(markdown: string, heading: string): Map<string, string> {
  const [section = ''] = markdown.split(`\n## ${heading}\n`)[1]?.split('\n## ') ?? [];
  const blocks = section.matchAll(/```(\w+)\n([\s\S]*?)```/g);
  return new Map([...blocks].map(([, language = '', text = '']) => [language, text]));
}

const marked = new Marked({
  renderer: {
    heading({ tokens, depth }) {
      const text = this.parser.parseInline(tokens);
      if (depth === 1) return `<h1>${text}</h1>\n`;
      const anchor = anchorOf(text);
      return `<h${depth} id="${anchor}"><a href="#${anchor}">${text}</a></h${depth}>\n`;
    },
    code({ text, lang = '' }) {
      return code(text, lang);
    },
    table(token) {
      const row = (cells: Tokens.TableCell[], tag: string) =>
        `<tr>${cells.map(({ tokens }) => `<${tag}>${this.parser.parseInline(tokens)}</${tag}>`).join('')}</tr>`;
      const rows = token.rows.map((cells) => row(cells, 'td')).join('\n');
      return `<div class="wide" tabindex="0"><table><thead>${row(token.header, 'th')}</thead><tbody>${rows}</tbody></table></div>\n`;
    },
  },
});

export function render(markdown: string): string {
  const html = grouped(marked.lexer(markdown))
    .map((tokens) => {
      const parsed = tokens.map((token) => marked.parser([token]));
      return tokens.length > 1 ? tabs(parsed) : parsed.join('');
    })
    .join('\n');
  return Object.entries(GENERATED)
    .reduce((text, [name, make]) => text.replace(`<p>${name}</p>`, () => make()), html)
    .replace(/<svg class="drawing"[\s\S]*?<\/svg>/g, (drawing) => `<div class="wide" tabindex="0">${drawing}</div>`)
    .replaceAll(encodeURI(BASE_URL), BASE_URL); // in links
}

/** Groups consecutive code blocks, because they show the same code in several languages. */
function grouped(tokens: readonly Token[]): Token[][] {
  const groups: Token[][] = [];
  for (const token of tokens) {
    const last = groups.at(-1);
    if (token.type === 'code' && last?.[0]?.type === 'code') last.push(token);
    else if (token.type !== 'space') groups.push([token]);
  }
  return groups;
}
