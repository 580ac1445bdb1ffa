import { appendFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { inject } from 'vitest';
import { takeRequestCount } from '../../infra/local/models/models.ts';

/** Adds the validated AWS requests of the tests in this file to the count. */
export function reportRequests(): void {
  appendFileSync(inject('requestCounts'), `${takeRequestCount()}\n`);
}

/** Creates the file in which workers store their counts, for the main process. */
export function countRequests() {
  const directory = mkdtempSync(join(tmpdir(), 'requests-'));
  const path = join(directory, 'counts');
  writeFileSync(path, '');
  return {
    path,
    /** Prints the sum. */
    finish(): void {
      const counts = readFileSync(path, 'utf8').split('\n').map(Number);
      const sum = counts.reduce((total, count) => total + count, 0);
      process.stdout.write(`\n${sum.toLocaleString('en')} AWS requests were validated against the service models.\n`);
      rmSync(directory, { recursive: true });
    },
  };
}
