import type { TestProject } from 'vitest/node';
import { assemble } from '../../infra/local/assembly.ts';
import { type DatabaseName, defaultDatabase, startDatabase } from '../../infra/local/services/database.ts';

declare module 'vitest' {
  export interface ProvidedContext {
    /** Directory of the synthesized stack. */
    assembly: string;
    /** As many as work side by side, or one. */
    databaseEndpoints: string[];
  }
}

/** Once per run: the synthesized stack, and databases, by name in `DATABASE` if not the default. */
export default async function setup(project: TestProject): Promise<() => void> {
  const name = (process.env.DATABASE as DatabaseName | undefined) ?? defaultDatabase();
  // Amazon's takes seconds to start.
  const count = name === 'dynoxide' ? project.config.maxWorkers : 1;
  const starting = Promise.all(Array.from({ length: count }, () => startDatabase(name)));
  starting.catch(() => {}); // awaited below
  project.provide('assembly', await assemble());
  const databases = await starting;
  const endpoints = databases.map(({ endpoint }) => endpoint);
  project.provide('databaseEndpoints', endpoints);
  return () => databases.forEach((database) => void database.stop());
}
