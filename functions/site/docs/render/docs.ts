import { errors } from './errors.ts';
import { guides } from './guides.ts';
import type { Chapter } from './layout.ts';
import { reference } from './reference.ts';

/** The documentation, in the order in which it is read. */
export const chapters = (): Chapter[] => [
  { title: 'Guides', articles: guides() },
  { title: 'API reference', articles: [...reference(), errors()] },
];
