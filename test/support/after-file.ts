import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { allDone } from '../../lib/concurrency.ts';

/*
 * Stops the processes of tests after their file. Files in one worker share the modules of this folder but not their hooks, so a
 * hook in a module would run only after the first file.
 */
let stops: (() => unknown)[] = [];
const directories: string[] = [];

/** Registers a function that runs after the tests of this file. */
export function afterFile(stop: () => unknown): void {
  stops.push(stop);
}

/** Creates a directory that exists until the registered functions have run. */
export function temporaryDirectory(): string {
  const directory = mkdtempSync(join(tmpdir(), 'document-sync-'));
  directories.push(directory);
  return directory;
}

/** Runs the registered functions and removes the directories. Used by `setup.ts`. */
export async function stopAll(): Promise<void> {
  const all = stops;
  stops = [];
  try {
    await allDone(all.map(async (stop) => stop())); // all of them also if one throws, because a test can have failed
  } finally {
    for (const directory of directories.splice(0)) rmSync(directory, { recursive: true, force: true });
  }
}
