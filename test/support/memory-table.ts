import { type Command, DynamoDbError } from '../../infra/local/memory/requests.ts';
import { schemaOf } from '../../infra/local/memory/schema.ts';
import { MemoryDynamoDb, type MemoryDynamoDbOptions } from '../../infra/local/memory/table.ts';
import { connect } from '../../lib/aws/backend.ts';
import type { Runtime } from '../../lib/aws/runtime.ts';
import { TABLE } from './dynamodb-table.ts';
import { recordRequest } from './recorded-requests.ts';
import { type Command as AwsCommand, runtimeWith } from './runtime.ts';

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

/** What handlers run on, with a table in memory. `handle` can respond to a command of AWS before the table, or throw. */
export function memoryBackend(
  rest: Partial<Runtime> = {},
  handle: (command: AwsCommand) => object | undefined = () => undefined,
) {
  const db = new RecordedDynamoDb();
  const runtime = runtimeWith(async (command) => handle(command) ?? db.execute(command), rest);
  return { runtime, db, ...connect(runtime) };
}
