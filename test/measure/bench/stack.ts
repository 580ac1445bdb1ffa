import { startDatabase } from '../../../infra/local/services/database.ts';
import { type StackOptions, startStack } from '../../../infra/local/stack.ts';

/** Starts a local stack on a separate database, because a database becomes slower with more data. */
export async function startBench(assembly: string, options: Partial<StackOptions> = {}) {
  const database = await startDatabase();
  const stack = await startStack({ assembly, databaseEndpoint: database.endpoint, ...options });
  return {
    stack,
    databaseEndpoint: database.endpoint,
    async stop(): Promise<void> {
      await stack.stop();
      database.stop();
    },
  };
}
