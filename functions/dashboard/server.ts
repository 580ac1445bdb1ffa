import { readFileSync } from 'node:fs';
import { log } from '../../lib/aws/log.ts';
import { createPageServer, type Page } from '../../lib/http/static.ts';

// Written next to the bundle when the stack is synthesized (infra/pages.ts).
const pages: [path: string, page: Page][] = JSON.parse(readFileSync(new URL('pages.json', import.meta.url), 'utf8'));

export const handler = createPageServer(new Map(pages), log);
