import { Duration } from 'aws-cdk-lib';
import * as lambda from 'aws-cdk-lib/aws-lambda';
import { Construct } from 'constructs';
import { BundledFunction, pinSource } from './bundled-function.ts';
import type { DataTable } from './data.ts';

/** Stats are at most a minute late. Gathering changes takes half of it, and the rest is for the write and a retry. */
const GATHERING = Duration.seconds(30);

/** Counts the changes of deliveries. Larger batches cost fewer writes. */
export class Stats extends Construct {
  readonly count: BundledFunction;
  readonly mapping: lambda.EventSourceMapping;

  constructor(scope: Construct, id: string, table: DataTable) {
    super(scope, id);
    this.count = new BundledFunction(this, 'Count', {
      name: 'stats',
      description: 'Counts what happened to deliveries',
      timeout: Duration.minutes(1),
    });
    table.grant(this.count, { FIGURES: ['update'] });
    table.grantStream(this.count);
    this.mapping = this.count.addEventSourceMapping('Deliveries', {
      eventSourceArn: table.streamArn,
      startingPosition: lambda.StartingPosition.TRIM_HORIZON,
      batchSize: 1000,
      maxBatchingWindow: GATHERING,
      // Processes one batch per shard at a time, in order. Exact counts depend on this.
      parallelizationFactor: 1,
      tumblingWindow: Duration.minutes(15),
      retryAttempts: -1,
      metricsConfig: { metrics: [lambda.MetricType.EVENT_COUNT] },
      filters: ['INSERT', 'MODIFY'].map((eventName) =>
        lambda.FilterCriteria.filter({
          eventName: lambda.FilterRule.isEqual(eventName),
          dynamodb: { Keys: { pk: { S: lambda.FilterRule.beginsWith('HOOK#') } } },
        }),
      ),
    });
    pinSource(this.count, this.mapping);
  }
}
