import type { Item } from '../../infra/local/memory/paths.ts';
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
    for (const command of putsOf(items)) this.execute(command);
  }

  /** Stores the items of another table, which are valid, without their effects. */
  copy(items: readonly Item[]): void {
    for (const command of putsOf(items)) recordCommand(this.history, command, {});
    for (const item of items) this.restore(item);
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

function putsOf(items: readonly object[]): Command[] {
  return Array.from({ length: Math.ceil(items.length / 25) }, (_, i) => {
    const puts = items.slice(25 * i, 25 * (i + 1)).map((Item) => ({ Put: { TableName: VARIABLES.TABLE_NAME, Item } }));
    return { name: 'TransactWrite', input: { TransactItems: puts } };
  });
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
