import { KEY_ITEM } from './key-item.ts';

/** How long a tab stays signed in without use. */
const IDLE_MS = 30 * 60 * 1000;

const USED_AT_ITEM = 'used-at';

/** The key is stored in the session storage of each signed-in tab and nowhere else. */
export const rememberedKey = (): string | null => sessionStorage.getItem(KEY_ITEM);

export function rememberKey(key: string): void {
  sessionStorage.setItem(KEY_ITEM, key);
  noteUse();
}

export function forgetKey(): void {
  sessionStorage.removeItem(KEY_ITEM);
  sessionStorage.removeItem(USED_AT_ITEM);
}

/** Stored as well, because a browser can restore a tab with its session storage days later. */
export const noteUse = (): void => sessionStorage.setItem(USED_AT_ITEM, String(Date.now()));

/** Milliseconds since the epoch, or 0 for a tab that was not used. */
export const lastUseAt = (): number => Number(sessionStorage.getItem(USED_AT_ITEM) ?? 0);

export const isIdle = (): boolean => lastUseAt() > 0 && Date.now() - lastUseAt() > IDLE_MS;
