import { appendFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { inject } from 'vitest';
import { takeRequestCount } from '../../infra/local/models/models.ts';

/** Adds the requests to AWS services that the tests of this file made, and that were valid by the service models, or refused. */
export function reportRequests(): void {
  appendFileSync(inject('requestCounts'), `${takeRequestCount()}\n`);
}

/** The file to which workers write their counts, for the process that starts them. */
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
