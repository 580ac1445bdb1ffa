import { BASE_URL } from '../../../../lib/http/static.ts';
import type { Place } from '../search/place.ts';
import { type Chapter, pathOf } from './chapter.ts';

/** A comment of a guide with words for the search: `<!-- search: tunnel, ngrok -->`. */
const KEYWORDS = /<!-- search: (.*?) -->/g;
/** The language of code, except for commands, which are everywhere. */
const LANGUAGES = /<figure data-language="(?!curl)([^"]*)">/g;

/** Returns every section of every page, without markup. */
export const searchIndex = (chapters: readonly Chapter[]): Place[] =>
  chapters.flatMap(({ kind, articles }) =>
    articles.flatMap((article) => {
      const [introduction = '', ...sections] = article.html.split(/(?=<h2[^>]*>)/);
      const href = pathOf(article).slice(1);
      const place = (html: string) => ({
        chapter: kind,
        page: article.title,
        keywords: [...html.matchAll(KEYWORDS)].map(([, words]) => words).join(' '),
      });
      return [
        { ...place(introduction), heading: '', href, text: textOf(introduction) },
        ...sections.map((html) => {
          const [title = '', anchor = '', heading = ''] = /<h2[^>]*><a href="#([^"]+)">(.*?)<\/a>/.exec(html) ?? [];
          const text = textOf(html.replace(title, ''));
          return { ...place(html), heading: textOf(heading), href: `${href}#${anchor}`, text };
        }),
      ];
    }),
  );

const ENTITIES: Record<string, string> = {
  '&lt;': '<',
  '&gt;': '>',
  '&quot;': '"',
  '&#39;': "'",
  '&#x27;': "'",
  '&amp;': '&',
};

/** Returns the text of markup and then its languages, without drawings, comments, the base URL and the samples of the API reference. */
const textOf = (html: string): string =>
  [html, ...[...html.matchAll(LANGUAGES)].map(([, language]) => language)]
    .join(' ')
    .replaceAll(BASE_URL, '') // the index is the same for every base URL
    .replace(/<svg[\s\S]*?<\/svg>|<!--[\s\S]*?-->|<div class="samples">[\s\S]*/g, ' ')
    .replace(/<[^>]+>/g, (tag) => (INLINE.test(tag) ? '' : ' '))
    .replace(/&(?:lt|gt|quot|amp|#39|#x27);/g, (entity) => ENTITIES[entity] ?? '')
    .replace(/\s+/g, ' ')
    .trim();

const INLINE = /^<\/?(?:span|code|b|em|strong|a)\b/;
