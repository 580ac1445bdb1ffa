import { KEY_ITEM } from './key-item.ts';
import { storageOf } from './storage.ts';

/** How long a tab stays signed in without use. */
const IDLE_MS = 30 * 60 * 1000;

const USED_AT_ITEM = 'used-at';

export const tabItems = storageOf('sessionStorage');

/** The key is stored in the session storage of each signed-in tab and nowhere else. */
export const rememberedKey = (): string | null => tabItems.getItem(KEY_ITEM);

export function rememberKey(key: string): void {
  tabItems.setItem(KEY_ITEM, key);
  noteUse();
}

export function forgetKey(): void {
  tabItems.removeItem(KEY_ITEM);
  tabItems.removeItem(USED_AT_ITEM);
}

/** Stored as well, because a browser can restore a tab with its session storage days later. */
export const noteUse = (): void => tabItems.setItem(USED_AT_ITEM, String(Date.now()));

/** Milliseconds since the epoch, or 0 for a tab that was not used. */
export const lastUseAt = (): number => Number(tabItems.getItem(USED_AT_ITEM) ?? 0);

export const isIdle = (): boolean => lastUseAt() > 0 && Date.now() - lastUseAt() > IDLE_MS;
