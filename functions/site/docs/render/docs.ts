import { changelog } from './changelog.ts';
import type { Chapter } from './chapter.ts';
import { errors } from './errors.ts';
import { guides } from './guides.ts';
import { reference } from './reference.ts';

/** The chapters of the documentation, in reading order. */
export const chapters = (): Chapter[] => [
  { title: 'Guides', kind: 'Guide', articles: [...guides(), changelog()] },
  { title: 'API reference', kind: 'API', articles: [...reference(), errors()] },
];
