import { MemoryDynamoDb } from '../../infra/local/memory/table.ts';
import { createTable, type Table } from '../../lib/aws/table.ts';
import { runtimeWith } from './runtime.ts';

/** A table in memory. `test/memory/contracts` compares it with the database. */
export function memoryTable(): Table {
  const memory = new MemoryDynamoDb();
  return createTable(runtimeWith(async (command) => memory.execute(command)));
}
