import { createTable, type Table, type TableOptions } from '../../lib/aws/table.ts';
import { MemoryDynamoDb } from '../memory/simulation/dynamodb.ts';

/** A table in memory. `test/memory/contracts` compares it with the database. */
export function memoryTable(): Table {
  const memory = new MemoryDynamoDb();
  const documents = {
    send: async (command: { input: Record<string, unknown> }) =>
      memory.execute({ name: command.constructor.name.replace('Command', ''), input: command.input }),
  };
  return createTable('table', { documents, pause: async () => {} } as unknown as TableOptions);
}
