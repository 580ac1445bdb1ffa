import type { Article } from './guides.ts';

/** A heading of the navigation with its pages. */
export interface Chapter {
  title: string;
  /** The label of its sections in search results. */
  kind: 'Guide' | 'API';
  articles: readonly Article[];
}

export const pathOf = ({ name }: Pick<Article, 'name'>): string => (name === '' ? '/docs' : `/docs/${name}`);
