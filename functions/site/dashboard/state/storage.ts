/** Returns the storage of the tab or of the browser. If the user blocks cookies, which include it, items last until the page is left. */
export function storageOf(
  name: 'sessionStorage' | 'localStorage',
): Pick<Storage, 'getItem' | 'setItem' | 'removeItem'> {
  try {
    globalThis[name].getItem(''); // throws if the storage is blocked or `null`
    return globalThis[name];
  } catch {
    const items = new Map<string, string>();
    return {
      getItem: (item) => items.get(item) ?? null,
      setItem: (item, value) => void items.set(item, value),
      removeItem: (item) => void items.delete(item),
    };
  }
}
