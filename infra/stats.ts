import { Duration } from 'aws-cdk-lib';
import type { EventSourceMapping } from 'aws-cdk-lib/aws-lambda';
import { Construct } from 'constructs';
import { BundledFunction } from './bundled-function.ts';
import type { DataTable } from './data.ts';

/** Stats are at most a minute late. Gathering changes takes half of it, and the rest is for the write and a retry. */
const GATHERING = Duration.seconds(30);

/** Counts the changes of deliveries. Larger batches cost fewer writes. */
export class Stats extends Construct {
  readonly count: BundledFunction;
  readonly mapping: EventSourceMapping;

  constructor(scope: Construct, id: string, table: DataTable) {
    super(scope, id);
    this.count = new BundledFunction(this, 'Count', {
      name: 'stats',
      description: 'Counts what happened to deliveries',
      timeout: Duration.minutes(1),
    });
    table.grant(this.count, { FIGURES: ['update'], RECOVERY: ['update'] });
    this.mapping = table.feed(this.count, {
      kind: 'HOOK',
      changes: ['INSERT', 'MODIFY'],
      batchSize: 1000,
      maxBatchingWindow: GATHERING,
      // Processes one batch per shard at a time, in order. Exact counts depend on this.
      parallelizationFactor: 1,
      tumblingWindow: Duration.minutes(15),
    });
  }
}
