import { KEY_ITEM } from './key-item.ts';
import { storageOf } from './storage.ts';

/*
 * Every item with a key, in the dashboard and in the documentation. All of them end together: when the user signs out, in this tab or
 * in another one, and after 30 minutes without use of the tab. Each read checks this, because a browser can restore a tab with its
 * session storage days later, and a tab that is closed or suspended misses the messages of the others.
 */

/** The key that the reader entered in the documentation. */
const DOCS_KEY_ITEM = 'docs-key';
const KEY_ITEMS = [KEY_ITEM, DOCS_KEY_ITEM];

/** How long keys stay without use of their tab. */
const IDLE_MS = 30 * 60 * 1000;
const USED_AT_ITEM = 'used-at';

const tabItems = storageOf('sessionStorage');
const browserItems = storageOf('localStorage');

/** The path of this deployment. Others can have the same origin. */
export const deploymentPath = (): string => location.pathname.replace(/\/(dashboard|docs)(\/.*)?$/, '');

/** The item with the last sign-out in any tab. It stays, because tabs can be restored later. */
const signedOutAtItem = (): string => `signed-out-at ${deploymentPath()}`;

/** The key of the dashboard, or the session of a link. */
export const rememberedKey = (): string | null => read(KEY_ITEM);

/**
 * The key for requests of the documentation: the one that the reader entered in this tab, or that of the dashboard. The session of a
 * link is only for the dashboard.
 */
export function docsKey(): string | null {
  const own = read(KEY_ITEM);
  return read(DOCS_KEY_ITEM) ?? (own?.startsWith('svc_') ? own : null);
}

export const rememberKey = (key: string): void => write(KEY_ITEM, key);

export const rememberDocsKey = (key: string): void => write(DOCS_KEY_ITEM, key);

export function forgetKeys(): void {
  for (const item of [...KEY_ITEMS, USED_AT_ITEM]) tabItems.removeItem(item);
}

/** Forgets the keys of this tab, and those of tabs that cannot be told now. */
export function endKeys(): void {
  forgetKeys();
  browserItems.setItem(signedOutAtItem(), String(Date.now()));
}

/** Milliseconds since the epoch, or 0 for a tab that was not used. */
export const lastUseAt = (): number => Number(tabItems.getItem(USED_AT_ITEM) ?? 0);

/** Why keys have ended. */
type End = 'idle' | 'signed-out';

function endOfKeys(): End | undefined {
  const [usedAt, now] = [lastUseAt(), Date.now()];
  if (usedAt === 0) return undefined;
  const signedOutAt = Number(browserItems.getItem(signedOutAtItem()) ?? 0);
  if (usedAt < signedOutAt && signedOutAt <= now) return 'signed-out'; // a later time is that of a wrong clock
  return now - usedAt > IDLE_MS ? 'idle' : undefined;
}

/** Forgets keys that have ended, and returns why. */
export function endedKeys(): End | undefined {
  const end = endOfKeys();
  if (end) forgetKeys();
  return end;
}

const read = (item: string): string | null => (endOfKeys() ? null : tabItems.getItem(item));

function write(item: string, key: string): void {
  tabItems.setItem(item, key);
  noteUse();
}

const noteUse = (): void => tabItems.setItem(USED_AT_ITEM, String(Date.now()));

const USES = ['pointerdown', 'keydown', 'wheel'] as const;
const CHECK_INTERVAL_MS = 10_000;

/** Calls `onEnd` when the keys of this tab end. Automatic requests of the page do not count as use. */
export function watchKeys(onEnd: (end: End) => void): () => void {
  const check = () => {
    const end = endedKeys();
    if (end) onEnd(end);
  };
  const use = () => {
    check(); // the machine may have been asleep
    if (KEY_ITEMS.some((item) => tabItems.getItem(item) !== null)) noteUse();
  };
  use();
  const timer = setInterval(check, CHECK_INTERVAL_MS);
  for (const name of USES) addEventListener(name, use, { capture: true, passive: true });
  return () => {
    clearInterval(timer);
    for (const name of USES) removeEventListener(name, use, { capture: true });
  };
}
