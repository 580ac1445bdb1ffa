import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { log } from '../lib/aws/log.ts';
import { baseUrlOf } from '../lib/http/base-url.ts';
import { createSite, type Site } from '../lib/http/static.ts';

// Written next to the bundle when the stack is synthesized (functions/site/build.ts).
const site: Site = JSON.parse(readFileSync(join(import.meta.dirname, 'site.json'), 'utf8'));

export const handler = createSite(site, log, baseUrlOf({ variables: process.env }));
