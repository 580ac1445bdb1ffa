/** Lets asynchronous functions wait for a condition of variables that they share. */
export function watchers() {
  const checks = new Set<() => void>();
  return {
    /** Resolves when the condition holds, or after these seconds. */
    until: (condition: () => boolean, seconds?: number): Promise<void> =>
      new Promise((resolve) => {
        const timer = seconds === undefined ? undefined : setTimeout(finish, seconds * 1000);
        function finish(): void {
          clearTimeout(timer);
          checks.delete(check);
          resolve();
        }
        const check = () => {
          if (condition()) finish();
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
