/*
 * What tests start is stopped when the tests of their file have run. The files that one worker runs share the modules of this
 * folder, but not hooks: those of a module would run after the first file only.
 */
let stops: (() => unknown)[] = [];

/** Has something stopped when the tests of this file have run. */
export function afterFile(stop: () => unknown): void {
  stops.push(stop);
}

/** For `setup.ts`. */
export async function stopAll(): Promise<void> {
  const all = stops;
  stops = [];
  await Promise.all(all.map(async (stop) => stop())); // also where one throws: a test may have failed
}
