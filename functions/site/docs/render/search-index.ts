import { BASE_URL } from '../../../../lib/http/static.ts';
import type { Place } from '../search/place.ts';
import { type Chapter, pathOf } from './chapter.ts';

/** A comment of a guide with words for the search: `<!-- search: tunnel, ngrok -->`. */
const KEYWORDS = /<!-- search: (.*?) -->/g;
/** Code, and its language except for commands, which are everywhere. */
const CODE = /<figure data-language="(?:curl|([^"]*))">([\s\S]*?)<\/figure>/g;
/** The start of a section, which has a link to itself. Other headings, such as "Parameters", belong to the section before them. */
const SECTION = /(?=<h[23][^>]*><a href="#)/;
const HEADING = /<h[23][^>]*><a href="#([^"]+)">(.*?)<\/a>/;
/**
 * Parts of the API reference that say the same in most sections: samples, and the errors of an operation. A search for an error
 * would find every operation, and not its explanation.
 */
const REPEATED = /<div class="samples">[\s\S]*|<h3>Other responses<\/h3>\s*<ul[\s\S]*?<\/ul>/g;

/** Returns every section of every page, without markup. */
export const searchIndex = (chapters: readonly Chapter[]): Place[] =>
  chapters.flatMap(({ kind, articles }) =>
    articles.flatMap((article) => {
      const [introduction = '', ...sections] = article.html.split(SECTION);
      const href = pathOf(article).slice(1);
      const place = (html: string) => {
        const own = html.replace(REPEATED, '');
        return {
          chapter: kind,
          page: article.title,
          keywords: [...own.matchAll(KEYWORDS)].map(([, words]) => words).join(' '),
          text: textOf(own.replace(CODE, ' ')),
          code: [...own.matchAll(CODE)].map(([, language, code = '']) => `${textOf(code)} ${language ?? ''}`).join(' '),
        };
      };
      return [
        { ...place(introduction), heading: '', href },
        ...sections.map((html) => {
          const [title = '', anchor = '', heading = ''] = HEADING.exec(html) ?? [];
          return { ...place(html.replace(title, '')), heading: textOf(heading), href: `${href}#${anchor}` };
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

/** Returns the text of markup without drawings, comments and the base URL. */
const textOf = (html: string): string =>
  html
    .replaceAll(BASE_URL, '') // the index is the same for every base URL
    .replace(/<svg[\s\S]*?<\/svg>|<!--[\s\S]*?-->/g, ' ')
    .replace(/<[^>]+>/g, (tag) => (INLINE.test(tag) ? '' : ' '))
    .replace(/&(?:lt|gt|quot|amp|#39|#x27);/g, (entity) => ENTITIES[entity] ?? '')
    .replace(/\s+/g, ' ')
    .trim();

const INLINE = /^<\/?(?:span|code|b|em|strong|a)\b/;
