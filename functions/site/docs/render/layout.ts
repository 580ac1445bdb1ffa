import { posix } from 'node:path';
import { type Chapter, pathOf } from './chapter.ts';
import type { Article } from './guides.ts';
import { escaped } from './html.ts';
import { markdownPathOf } from './markdown.ts';

/**
 * Renders the body of a page with the navigation, the article and its table of contents. Links are relative, because the URL of
 * the API contains a stage.
 */
export function bodyOf(article: Article, chapters: readonly Chapter[], searchIndex: string): string {
  const path = pathOf(article);
  const href = (to: string) => posix.relative(posix.dirname(path), to) || `../${posix.basename(to)}`;
  const navigation = chapters.map(({ title, articles }) => {
    const items = articles.map((each) => {
      const isCurrent = each === article;
      const link = `<a href="${href(pathOf(each))}"${isCurrent ? ' aria-current="page"' : ''}>${escaped(each.title)}</a>`;
      return `<li>${link}${isCurrent ? sectionsOf(article) : ''}</li>`;
    });
    return `<h2>${title}</h2>\n<ul>${items.join('\n')}</ul>`;
  });
  return `<a class="skip" href="#content">Skip to content</a>
<header class="bar" data-base="${posix.relative(posix.dirname(path), '/') || '.'}" data-search="${href(searchIndex)}">
<a class="brand" href="${href('/docs')}"><span>Document Sync Service</span> Docs</a>
<search><input type="search" placeholder="Search  /" aria-label="Search the documentation" autocomplete="off" spellcheck="false"></search>
<a href="${href('/dashboard')}">Dashboard</a>
</header>
<div class="columns">
<nav class="pages" aria-label="Documentation"><details><summary>Contents</summary></details><div>${navigation.join('\n')}</div></nav>
<main id="content" tabindex="-1"${isReference(article) ? ' class="reference"' : ''}>
${linked(article, href)}
${neighbors(article, chapters, href)}
</main>
${isReference(article) ? '' : onThisPage(article)}
</div>`;
}

const isReference = ({ name }: Article): boolean => name.startsWith('api-');

/** Links to the previous page, the next page and the page as Markdown. A page outside of the chapters has none. */
function neighbors(article: Article, chapters: readonly Chapter[], href: (to: string) => string): string {
  const all = chapters.flatMap(({ articles }) => articles);
  const at = all.indexOf(article);
  if (at < 0) return '';
  const [previous, next] = [all[at - 1], all[at + 1]];
  const links = [
    previous && `<a rel="prev" href="${href(pathOf(previous))}">Previous: ${escaped(previous.title)}</a>`,
    next && `<a rel="next" href="${href(pathOf(next))}">Next: ${escaped(next.title)}</a>`,
    `<a href="${href(markdownPathOf(article))}">This page as Markdown</a>`,
  ];
  return `<nav class="neighbors" aria-label="Pages">${links.filter(Boolean).join('\n')}</nav>`;
}

/** Resolves links in guides, which contain file names, such as `[Retries](retries)`, and removes comments. */
const linked = ({ html }: Article, href: (to: string) => string): string =>
  html
    .replace(/<!--[\s\S]*?-->\n?/g, '')
    .replace(/href="([a-z][a-z-]*)(#[\w-]+)?"/g, (_, name, hash = '') => `href="${href(`/docs/${name}`)}${hash}"`);

function onThisPage(article: Article): string {
  const sections = sectionsOf(article);
  return sections && `<nav class="contents" aria-label="On this page"><h2>On this page</h2>${sections}</nav>`;
}

/** Lists the sections of a page, and the operations of a page of the reference with their methods. */
function sectionsOf({ html }: Article): string {
  const headings = [...html.matchAll(HEADING)];
  if (headings.length < 2) return '';
  const items = headings.map(([, anchor, text = '', method]) => {
    const label = method ? `<b class="${method}">${method.toUpperCase()}</b> ` : '';
    return `<li><a href="#${anchor}">${label}${text.replace(/<[^>]+>/g, '')}</a></li>`;
  });
  return `<ul>${items.join('\n')}</ul>`;
}

/** A heading of the second level with its anchor, and the method of an operation. */
const HEADING = /<h2[^>]*><a href="#([^"]+)">(.*?)<\/a>.*?<\/h2>(?:\n<p class="route"><b class="(\w+)">)?/g;
