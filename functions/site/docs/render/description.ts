import type { Article } from './guides.ts';

/** Search engines and chats show less. */
const MAX_LENGTH = 200;

/** Describes a page with the first sentences of its text, as HTML for an attribute. */
export function descriptionOf({ html }: Pick<Article, 'html'>): string {
  const [, paragraph = ''] = /<p>([\s\S]*?)<\/p>/.exec(html) ?? [];
  const text = paragraph.replace(/<[^>]+>/g, '').replace(/\s+/g, ' ');
  const sentences = text.match(/.+?(?:\.(?= |$)|:$)/g) ?? [];
  const ends = sentences.map((_, i) => sentences.slice(0, i + 1).join(''));
  const description = ends.findLast((each) => each.length <= MAX_LENGTH) ?? '';
  return description.replace(/:$/, '.').replaceAll('"', '&quot;');
}
