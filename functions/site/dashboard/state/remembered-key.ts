import { KEY_ITEM } from './key-item.ts';

/** How long a tab stays signed in without use. */
const IDLE_MS = 30 * 60 * 1000;

const USED_AT_ITEM = 'used-at';

/** The session storage. If the user blocks cookies, which include it, the items last until the page is left. */
export const tabItems = storageOrMemory();

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

function storageOrMemory(): Pick<Storage, 'getItem' | 'setItem' | 'removeItem'> {
  try {
    return sessionStorage;
  } catch {
    const items = new Map<string, string>();
    return {
      getItem: (name) => items.get(name) ?? null,
      setItem: (name, value) => void items.set(name, value),
      removeItem: (name) => void items.delete(name),
    };
  }
}
