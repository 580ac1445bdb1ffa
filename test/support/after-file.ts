/*
 * Stops the processes of tests after their file. Files in one worker share the modules of this folder but not their hooks, so a
 * hook in a module would run only after the first file.
 */
let stops: (() => unknown)[] = [];

/** Registers a function that runs after the tests of this file. */
export function afterFile(stop: () => unknown): void {
  stops.push(stop);
}

/** Runs the registered functions. Used by `setup.ts`. */
export async function stopAll(): Promise<void> {
  const all = stops;
  stops = [];
  await Promise.all(all.map(async (stop) => stop())); // also if one throws, because a test can have failed
}
