import { afterAll, inject } from 'vitest';
import { type Database, startDatabase } from '../../infra/local/services/database.ts';

let own: Promise<Database> | undefined;
afterAll(async () => (await own)?.stop());

/** Where the database of this file's tests is. Dynoxide starts in a moment and slows down with what it holds: each file has one. */
export async function databaseEndpoint(): Promise<string> {
  const shared = inject('sharedDatabase');
  if (shared !== '') return shared;
  own ??= startDatabase('dynoxide');
  return (await own).endpoint;
}
