/**
 * Returns the storage of the tab or of the browser. An item that it does not accept, because it is full or the user blocks cookies,
 * lasts until the page is left.
 */
export function storageOf(
  name: 'sessionStorage' | 'localStorage',
): Pick<Storage, 'getItem' | 'setItem' | 'removeItem'> {
  const refused = new Map<string, string>();
  const use = <Result>(act: (storage: Storage) => Result): Result | undefined => {
    try {
      return act(globalThis[name]);
    } catch {
      return undefined; // blocked, `null` or full
    }
  };
  return {
    getItem: (item) => refused.get(item) ?? use((storage) => storage.getItem(item)) ?? null,
    setItem(item, value) {
      refused.set(item, value);
      use((storage) => {
        storage.setItem(item, value);
        refused.delete(item);
      });
    },
    removeItem(item) {
      refused.delete(item);
      use((storage) => storage.removeItem(item));
    },
  };
}
