import { inject } from 'vitest';

/** The database of this worker's tests. Every stack, and every test of a table, has a table of its own in it. */
export const databaseEndpoint = (): string => {
  const endpoints = inject('databaseEndpoints');
  return endpoints[Number(process.env.VITEST_POOL_ID) % endpoints.length] as string;
};
