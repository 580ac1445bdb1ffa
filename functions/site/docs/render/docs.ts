import { changelog } from './changelog.ts';
import type { Chapter } from './chapter.ts';
import { errors } from './errors.ts';
import { guides } from './guides.ts';
import { reference } from './reference.ts';

/** The chapters of the documentation, in reading order. Readers of all chapters but the last have a base URL and a key, and no checkout. */
export const chapters = (): Chapter[] => [
  {
    title: 'Get started',
    kind: 'Guide',
    articles: guides('index', 'quickstart', 'connect-engine', 'concepts', 'going-live', 'troubleshooting'),
  },
  { title: 'Webhooks', kind: 'Guide', articles: guides('receiving', 'receivers', 'delivery', 'retries') },
  { title: 'Access and documents', kind: 'Guide', articles: guides('keys', 'tokens', 'dashboard-links', 'sync') },
  {
    title: 'Reference',
    kind: 'Guide',
    articles: [...guides('events', 'conventions'), errors(), ...guides('versions'), changelog()],
  },
  { title: 'API reference', kind: 'API', articles: reference() },
  { title: 'For operators', kind: 'Guide', articles: guides('local', 'operating') },
];
