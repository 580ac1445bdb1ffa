import TurndownService from 'turndown';
import { BASE_URL } from '../../../../lib/http/static.ts';
import type { Chapter } from './chapter.ts';
import type { Article } from './guides.ts';

/** The path of all pages as one text. */
const COMPLETE_PATH = '/docs/llms-full.txt';

/** The path of a page as Markdown. */
export const markdownPathOf = ({ name }: Pick<Article, 'name'>): string => `/docs/${name || 'index'}.md`;

const turndown = new TurndownService({ headingStyle: 'atx', codeBlockStyle: 'fenced', bulletListMarker: '-' });
// The texts contain few characters with a meaning in Markdown, and names such as `next_cursor` stay readable.
turndown.escape = (text) => text.replaceAll('<', '\\<');
turndown.remove(['summary']);

const attribute = (node: Node, name: string): string => (node as Element).getAttribute(name) ?? '';
const all = (node: Node, selector: string): Element[] => Array.from((node as Element).querySelectorAll(selector));
const block = (text: string): string => `\n\n${text}\n\n`;
const line = (text: string): string => text.replace(/\s*\n\s*/g, ' ').trim();

turndown.addRule('code', {
  filter: 'figure',
  replacement(_, node) {
    // The reference shows each request in several languages. One is enough here.
    const isRepeated = node.previousSibling !== null && node.parentElement?.parentElement?.className === 'samples';
    const language = attribute(node, 'data-language').toLowerCase().replace('curl', 'bash');
    return isRepeated ? '' : block(`\`\`\`${language}\n${node.textContent?.trim()}\n\`\`\``);
  },
});
turndown.addRule('drawing', {
  filter: (node) => node.nodeName.toLowerCase() === 'svg',
  replacement: (_, node) => block(`Drawing: ${attribute(node, 'aria-label')}`),
});
turndown.addRule('table', {
  filter: 'table',
  replacement(_, node) {
    const [head = [], ...rows] = all(node, 'tr').map((row) =>
      all(row, 'th, td').map((cell) => line(turndown.turndown(cell.innerHTML)).replaceAll('|', '\\|')),
    );
    const text = [head, head.map(() => '---'), ...rows].map((cells) => `| ${cells.join(' | ')} |`);
    return block(text.join('\n'));
  },
});
turndown.addRule('member', { filter: 'dt', replacement: (content) => `\n- ${line(content)}` });
turndown.addRule('description', {
  filter: 'dd',
  replacement(content) {
    const text = content.trim().replace(/\n+/g, '\n  ');
    return text.startsWith('- ') ? `\n  ${text}\n` : `: ${text}\n`; // members without a description of their object
  },
});
turndown.addRule('link', {
  filter: 'a',
  replacement(content, node) {
    const [page = '', anchor] = attribute(node, 'href').split('#');
    if (/^H\d$/.test(node.parentElement?.nodeName ?? '')) return content;
    const target = /^[a-z-]+$/.test(page) ? `${BASE_URL}${markdownPathOf({ name: page })}` : page;
    return `[${content}](${target}${anchor === undefined ? '' : `#${anchor}`})`;
  },
});

/** Returns a page as Markdown, for readers and programs without a browser. */
const markdownOf = ({ html }: Article): string => `${turndown.turndown(html).replace(/\n{3,}/g, '\n\n')}\n`;

/** The first sentence of a page, without its headings, lists, tables and drawings. */
function summaryOf(markdown: string): string {
  const paragraph = markdown.split('\n\n').find((text) => /^[A-Z]/.test(text) && !text.startsWith('Drawing: ')) ?? '';
  const [sentence = ''] = line(paragraph).split(/(?<=\.) /);
  return sentence.replace(/:$/, '.');
}

/** Returns the paths and texts of all pages as Markdown, with a list of them (llmstxt.org) and one text that contains all. */
export function markdownFiles(chapters: readonly Chapter[]): [path: string, text: string][] {
  const texts = new Map(chapters.flatMap(({ articles }) => articles.map((each) => [each, markdownOf(each)])));
  const sections = chapters.map(({ title, articles }) => {
    const items = articles.map((article) => {
      const link = `[${article.title}](${BASE_URL}${markdownPathOf(article)})`;
      return `- ${link}: ${summaryOf(texts.get(article) ?? '')}`;
    });
    return `## ${title}\n\n${items.join('\n')}\n`;
  });
  const [introduction = ''] = texts.values();
  const complete = `## Optional\n\n- [All pages as one text](${BASE_URL}${COMPLETE_PATH})\n`;
  const list = [`# Document Sync Service\n`, `> ${summaryOf(introduction)}\n`, ...sections, complete].join('\n');
  return [
    ...Array.from(texts, ([article, text]): [string, string] => [markdownPathOf(article), text]),
    ['/llms.txt', list],
    [COMPLETE_PATH, [...texts.values()].join('\n')],
  ];
}
