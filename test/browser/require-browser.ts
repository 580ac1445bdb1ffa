import { existsSync } from 'node:fs';
import { CHROMIUM } from './browser.ts';

/** Says in one sentence what is missing. */
export default function setup(): void {
  if (!existsSync(CHROMIUM)) throw new Error(`The browser tests need Chromium at ${CHROMIUM}, or where CHROMIUM says.`);
}
