import { inject } from 'vitest';

/** The database of the tests in this worker. Every stack and every table test has its own table. */
export const databaseEndpoint = (): string => {
  const endpoints = inject('databaseEndpoints');
  return endpoints[Number(process.env.VITEST_POOL_ID) % endpoints.length] as string;
};
