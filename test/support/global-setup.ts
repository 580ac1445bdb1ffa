import type { TestProject } from 'vitest/node';
import { assemble } from '../../infra/local/assembly.ts';
import { type DatabaseName, startDatabase } from '../../infra/local/services/database.ts';

declare module 'vitest' {
  export interface ProvidedContext {
    /** Directory of the synthesized stack. */
    assembly: string;
    databaseEndpoint: string;
  }
}

/** Once per run: the synthesized stack and one database for all tests, by name in `DATABASE` if not the default. */
export default async function setup(project: TestProject): Promise<() => void> {
  const starting = startDatabase(process.env.DATABASE as DatabaseName | undefined);
  starting.catch(() => {}); // awaited below
  project.provide('assembly', await assemble());
  const { endpoint, stop } = await starting;
  project.provide('databaseEndpoint', endpoint);
  return stop;
}
