import type { TestProject } from 'vitest/node';
import { assemble } from '../../infra/local/assembly.ts';
import { type DatabaseName, defaultDatabase, startDatabase } from '../../infra/local/services/database.ts';

declare module 'vitest' {
  export interface ProvidedContext {
    /** Directory of the synthesized stack. */
    assembly: string;
    /** Amazon's database takes seconds to start: all files share one. Empty if each has one of its own (database.ts). */
    sharedDatabase: string;
  }
}

/** Once per run: the synthesized stack, and the database if files share it, by name in `DATABASE` if not the default. */
export default async function setup(project: TestProject): Promise<() => void> {
  const name = (process.env.DATABASE as DatabaseName | undefined) ?? defaultDatabase();
  const starting = name === 'dynoxide' ? undefined : startDatabase(name);
  starting?.catch(() => {}); // awaited below
  project.provide('assembly', await assemble());
  const shared = await starting;
  project.provide('sharedDatabase', shared?.endpoint ?? '');
  return () => shared?.stop();
}
