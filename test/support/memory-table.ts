import { type Command, DynamoDbError } from '../../infra/local/memory/requests.ts';
import { schemaOf } from '../../infra/local/memory/schema.ts';
import { MemoryDynamoDb, type MemoryDynamoDbOptions } from '../../infra/local/memory/table.ts';
import { backendOf } from '../../lib/aws/backend.ts';
import type { Runtime } from '../../lib/aws/runtime.ts';
import { TABLE } from './dynamodb-table.ts';
import { recordCommand } from './replay.ts';
import { type Command as AwsCommand, runtimeWith, VARIABLES } from './runtime.ts';

/** The table of the service in memory. `replay.ts` can repeat what happens to it on a database after the tests. */
export class RecordedDynamoDb extends MemoryDynamoDb {
  private readonly history: Command[] = [];

  constructor(options?: MemoryDynamoDbOptions) {
    super(schemaOf(TABLE), options);
  }

  /** Stores items without conditions, in few commands. */
  put(items: readonly object[]): void {
    for (let i = 0; i < items.length; i += 25) {
      const TransactItems = items.slice(i, i + 25).map((Item) => ({ Put: { TableName: VARIABLES.TABLE_NAME, Item } }));
      this.execute({ name: 'TransactWrite', input: { TransactItems } });
    }
  }

  override execute(command: Command): object {
    try {
      const result = super.execute(command);
      recordCommand(this.history, command, result);
      return result;
    } catch (error) {
      if (error instanceof DynamoDbError) recordCommand(this.history, command, error);
      throw error;
    }
  }
}

/** The backend of handlers, with a table in memory. `handle` can respond to a command of AWS before the table, or throw. */
export function memoryBackend(
  rest: Partial<Runtime> = {},
  handle: (command: AwsCommand) => object | undefined = () => undefined,
) {
  const db = new RecordedDynamoDb();
  const runtime = runtimeWith(async (command) => handle(command) ?? db.execute(command), rest);
  return { runtime, db, ...backendOf(runtime) };
}
