import type { TestProject } from 'vitest/node';
import { assemble } from '../../infra/local/assembly.ts';
import { type DatabaseName, defaultDatabase, startDatabase } from '../../infra/local/services/database.ts';

declare module 'vitest' {
  export interface ProvidedContext {
    /** Directory of the synthesized stack. */
    assembly: string;
    /** One database per worker, or one for all. */
    databaseEndpoints: string[];
  }
}

/** Prepares the synthesized stack and the databases once per run. `DATABASE` selects another database. */
export default async function setup(project: TestProject): Promise<() => void> {
  const name = (process.env.DATABASE as DatabaseName | undefined) ?? defaultDatabase();
  // DynamoDB Local takes seconds to start.
  const count = name === 'dynamodb-local' ? 1 : project.config.maxWorkers;
  const starting = Promise.all(Array.from({ length: count }, () => startDatabase(name)));
  starting.catch(() => {}); // awaited below
  project.provide('assembly', await assemble());
  const databases = await starting;
  const endpoints = databases.map(({ endpoint }) => endpoint);
  project.provide('databaseEndpoints', endpoints);
  return () => {
    for (const database of databases) database.stop();
  };
}
