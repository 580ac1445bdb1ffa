import { type Command, DynamoDbError } from '../../infra/local/memory/requests.ts';
import { schemaOf } from '../../infra/local/memory/schema.ts';
import { MemoryDynamoDb, type MemoryDynamoDbOptions } from '../../infra/local/memory/table.ts';
import { createTable, type Table } from '../../lib/aws/table.ts';
import { TABLE } from './dynamodb-table.ts';
import { recordRequest } from './recorded-requests.ts';
import { runtimeWith } from './runtime.ts';

/** The table of the service in memory. Records the requests that it accepts, so that a database checks them too. */
export class RecordedDynamoDb extends MemoryDynamoDb {
  constructor(options?: MemoryDynamoDbOptions) {
    super(schemaOf(TABLE), options);
  }

  override execute(command: Command): object {
    try {
      const result = super.execute(command);
      recordRequest(command);
      return result;
    } catch (error) {
      if (error instanceof DynamoDbError) recordRequest(command);
      throw error;
    }
  }
}

/** A table in memory. `test/memory/contracts` compares it with the database. */
export function memoryTable(): Table {
  const memory = new RecordedDynamoDb();
  return createTable(runtimeWith(async (command) => memory.execute(command)));
}
