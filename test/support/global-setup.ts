import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestProject } from 'vitest/node';
import { type DatabaseName, startDatabase } from '../../infra/local/services/database.ts';
import { synthesize } from '../../infra/local/synthesize.ts';

declare module 'vitest' {
  export interface ProvidedContext {
    /** Directory of the synthesized stack. */
    assembly: string;
    databaseEndpoint: string;
  }
}

/** Once per run: the synthesized stack and one database for all tests, by name in `DATABASE` if not the default. */
export default async function setup(project: TestProject): Promise<() => void> {
  const directory = mkdtempSync(join(tmpdir(), 'service-test-'));
  const database = startDatabase(process.env.DATABASE as DatabaseName | undefined);
  project.provide('assembly', synthesize(directory));
  const { endpoint, stop } = await database;
  project.provide('databaseEndpoint', endpoint);
  return () => {
    stop();
    rmSync(directory, { recursive: true, force: true });
  };
}
