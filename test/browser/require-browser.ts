import { existsSync } from 'node:fs';
import { CHROMIUM } from './browser.ts';

/** Fails with a short message if Chromium is missing. */
export default function setup(): void {
  if (!existsSync(CHROMIUM))
    throw new Error(`The browser tests need Chromium at ${CHROMIUM}. Set CHROMIUM to use another path.`);
}
