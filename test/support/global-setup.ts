import type { TestProject } from 'vitest/node';
import { assemble } from '../../infra/local/assembly.ts';
import { type DatabaseName, defaultDatabase, startDatabase } from '../../infra/local/services/database.ts';

import { countRequests } from './request-count.ts';

declare module 'vitest' {
  export interface ProvidedContext {
    /** Directory of the synthesized stack. */
    assembly: string;
    /** As many as work side by side, or one. */
    databaseEndpoints: string[];
    /** The file to which workers write how many requests to AWS services they validated. */
    requestCounts: string;
  }
}

/** Once per run: the synthesized stack, and databases, by name in `DATABASE` if not the default. */
export default async function setup(project: TestProject): Promise<() => void> {
  const name = (process.env.DATABASE as DatabaseName | undefined) ?? defaultDatabase();
  // Amazon's takes seconds to start.
  const count = name === 'dynoxide' ? project.config.maxWorkers : 1;
  const starting = Promise.all(Array.from({ length: count }, () => startDatabase(name)));
  starting.catch(() => {}); // awaited below
  const counts = countRequests();
  project.provide('requestCounts', counts.path);
  project.provide('assembly', await assemble());
  const databases = await starting;
  const endpoints = databases.map(({ endpoint }) => endpoint);
  project.provide('databaseEndpoints', endpoints);
  return () => {
    for (const database of databases) database.stop();
    counts.finish();
  };
}
