import type { Command } from '../../../infra/local/memory/requests.ts';
import { sdkError, type World } from './world.ts';

type Keyed = { Key?: { pk?: string }; Item?: { pk?: string } };

/** The log of a webhook whose partitions DynamoDB throttles for a while. It serves all other partitions. */
export class HotPartition {
  private readonly world: World;
  private prefix = '';
  private until = 0;
  /** The number of times that a partition became hot. */
  count = 0;

  constructor(world: World) {
    this.world = world;
  }

  throttle(webhookId: string, ms: number): void {
    this.prefix = `HOOK#${webhookId}#`;
    this.until = this.world.now + ms;
    this.count++;
    this.world.faults++;
  }

  /** Whether the log of this webhook was throttled last. */
  isOf(webhookId: string): boolean {
    return this.prefix === `HOOK#${webhookId}#`;
  }

  /**
   * Performs a command. DynamoDB leaves throttled keys of a batch unprocessed, cancels a transaction with a throttled item, and
   * rejects any other request (DynamoDB API Reference, `BatchGetItem` and `TransactWriteItems`).
   */
  perform(command: Command, execute: (command: Command) => object): object {
    if (this.world.now >= this.until) return execute(command);
    const { name, input } = command;
    if (name === 'BatchGet') return this.batchGet(command, execute);
    if (name === 'TransactWrite') {
      const isHot = input.TransactItems.map((item: object) =>
        Object.values(item).some((write) => this.isHotKey(write)),
      );
      if (!isHot.includes(true)) return execute(command);
      const CancellationReasons = isHot.map((each: boolean) => ({ Code: each ? 'ThrottlingError' : 'None' }));
      throw Object.assign(sdkError('TransactionCanceledException'), { CancellationReasons });
    }
    const values = Object.values(input.ExpressionAttributeValues ?? {});
    const isHot = this.isHotKey(input) || (name === 'Query' && values.some((value) => this.isHot(value)));
    if (isHot) throw sdkError('ThrottlingException');
    return execute(command);
  }

  private batchGet(command: Command, execute: (command: Command) => object): object {
    const [[table, request]] = Object.entries(command.input.RequestItems) as [[string, { Keys: { pk: string }[] }]];
    const hot = request.Keys.filter(({ pk }) => this.isHot(pk));
    if (hot.length === 0) return execute(command);
    const Keys = request.Keys.filter(({ pk }) => !this.isHot(pk));
    if (Keys.length === 0) throw sdkError('ProvisionedThroughputExceededException');
    const input = { ...command.input, RequestItems: { [table]: { ...request, Keys } } };
    return { ...execute({ ...command, input }), UnprocessedKeys: { [table]: { ...request, Keys: hot } } };
  }

  private isHotKey({ Key, Item }: Keyed): boolean {
    return this.isHot(Key?.pk ?? Item?.pk);
  }

  private isHot(value: unknown): boolean {
    return typeof value === 'string' && value.startsWith(this.prefix);
  }
}
