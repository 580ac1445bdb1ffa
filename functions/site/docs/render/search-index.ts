import type { Article } from './guides.ts';
import { pathOf } from './layout.ts';

/** A search result. */
export interface Place {
  page: string;
  heading: string;
  /** The link, relative to the pages. */
  href: string;
  text: string;
}

/** The indexed length of a section, because its beginning contains the important words. */
const MAX_TEXT = 400;

/** Returns every section of every article, without markup. */
export const searchIndex = (articles: readonly Article[]): Place[] =>
  articles.flatMap((article) => {
    const [introduction = '', ...sections] = article.html.split(/(?=<h2[^>]*>)/);
    const href = pathOf(article).slice(1);
    return [
      { page: article.title, heading: '', href, text: textOf(introduction) },
      ...sections.map((html) => {
        const [, anchor = '', heading = ''] = /<h2[^>]*><a href="#([^"]+)">(.*?)<\/a>/.exec(html) ?? [];
        return { page: article.title, heading: textOf(heading), href: `${href}#${anchor}`, text: textOf(html) };
      }),
    ];
  });

const ENTITIES: Record<string, string> = { '&lt;': '<', '&gt;': '>', '&quot;': '"', '&#39;': "'", '&amp;': '&' };

const textOf = (html: string): string =>
  html
    .replace(/<[^>]+>/g, ' ')
    .replace(/&(?:lt|gt|quot|amp|#39);/g, (entity) => ENTITIES[entity] ?? '')
    .replace(/\s+/g, ' ')
    .trim()
    .slice(0, MAX_TEXT);
