import { posix } from 'node:path';
import { BASE_URL } from '../../../../lib/http/static.ts';
import type { Article } from './guides.ts';
import { escaped } from './html.ts';

/** A heading of the navigation with its pages. */
export interface Chapter {
  title: string;
  /** The label of its sections in search results. */
  kind: 'Guide' | 'API';
  articles: readonly Article[];
}

export const pathOf = ({ name }: Pick<Article, 'name'>): string => (name === '' ? '/docs' : `/docs/${name}`);

/**
 * Renders the body of a page with the navigation, the article and its table of contents. Links are relative, because the URL of
 * the API contains a stage.
 */
export function bodyOf(article: Article, chapters: readonly Chapter[], searchIndex: string): string {
  const path = pathOf(article);
  const href = (to: string) => posix.relative(posix.dirname(path), to) || `../${posix.basename(to)}`;
  const all = chapters.flatMap(({ articles }) => articles);
  const next = all[all.indexOf(article) + 1];
  const navigation = chapters
    .map(
      ({ title, articles }) => `<h2>${title}</h2>
<ul>${articles
        .map((each) => {
          const current = each === article ? ' aria-current="page"' : '';
          return `<li><a href="${href(pathOf(each))}"${current}>${escaped(each.title)}</a></li>`;
        })
        .join('\n')}</ul>`,
    )
    .join('\n');
  return `<a class="skip" href="#content">Skip to content</a>
<header class="bar" data-base="${BASE_URL}" data-search="${href(searchIndex)}">
<a class="brand" href="${href('/docs')}">Docs</a>
<search><input type="search" placeholder="Search  /" aria-label="Search the documentation" autocomplete="off" spellcheck="false"></search>
<a href="${href('/dashboard')}">Dashboard</a>
</header>
<div class="columns">
<nav class="pages" aria-label="Documentation"><details open><summary>Contents</summary>${navigation}</details></nav>
<main id="content" tabindex="-1"${article.name.startsWith('api-') ? ' class="reference"' : ''}>
${linked(article, href)}
${next ? `<p class="next"><a href="${href(pathOf(next))}">Next: ${escaped(next.title)}</a></p>` : ''}
</main>
${onThisPage(article)}
</div>`;
}

/** Resolves links in guides, which contain file names, such as `[Retries](retries)`, and removes comments. */
const linked = ({ html }: Article, href: (to: string) => string): string =>
  html
    .replace(/<!--[\s\S]*?-->\n?/g, '')
    .replace(/href="([a-z][a-z-]*)(#[\w-]+)?"/g, (_, name, hash = '') => `href="${href(`/docs/${name}`)}${hash}"`);

function onThisPage({ html }: Article): string {
  const headings = headingsOf(html);
  if (headings.length < 2) return '';
  const items = headings.map(({ anchor, text }) => `<li><a href="#${anchor}">${text}</a></li>`);
  return `<nav class="contents" aria-label="On this page"><h2>On this page</h2><ul>${items.join('\n')}</ul></nav>`;
}

/** Returns the headings of the second level with their anchors. */
const headingsOf = (html: string): { anchor: string; text: string }[] =>
  [...html.matchAll(/<h2[^>]*><a href="#([^"]+)">(.*?)<\/a>/g)].map(([, anchor = '', text = '']) => ({
    anchor,
    text: text.replace(/<[^>]+>/g, ''),
  }));
