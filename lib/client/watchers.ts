/** Lets asynchronous functions wait for a condition of variables that they share. */
export function watchers() {
  const checks = new Set<() => void>();
  return {
    /** Resolves when the condition holds, or after these seconds. */
    until: (condition: () => boolean, seconds?: number): Promise<void> =>
      new Promise((resolve) => {
        const timer = seconds === undefined ? undefined : setTimeout(() => check(true), seconds * 1000);
        const check = (isOver = false) => {
          if (!isOver && !condition()) return;
          clearTimeout(timer);
          checks.delete(check);
          resolve();
        };
        checks.add(check);
        check();
      }),
    /** States that a variable has changed. */
    notify(): void {
      for (const check of checks) check();
    },
  };
}
