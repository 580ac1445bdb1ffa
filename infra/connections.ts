import { Duration } from 'aws-cdk-lib';
import type { Queue } from 'aws-cdk-lib/aws-sqs';
import { Construct } from 'constructs';
import { BundledFunction, consumeQueue } from './bundled-function.ts';
import type { DataTable } from './data.ts';
import { createQueue, grantSend } from './queues.ts';

export interface ConnectionsProps {
  table: DataTable;
  deadLetters: Queue;
  deliverConcurrency: number;
}

/** How long checks are gathered. Many leases expire every second, so this saves invocations and delays events only slightly. */
const GATHERED_SECONDS = 2;

/** Concurrent batches of checks. */
const MAX_CHECKS = 20;

/** Connection leases. Delayed messages check whether a lease has expired. */
export class Connections extends Construct {
  readonly checks: Queue;
  readonly check: BundledFunction;

  constructor(scope: Construct, id: string, { table, deadLetters, deliverConcurrency }: ConnectionsProps) {
    super(scope, id);
    this.checks = createQueue(this, 'Checks', deadLetters);
    this.check = new BundledFunction(this, 'Check', {
      name: 'check-connection',
      description: 'Ends leases that have run out',
      feedsItself: true, // one check per lease, so the chain ends with the connection
    });
    const maxBatchingWindow = Duration.seconds(GATHERED_SECONDS);
    consumeQueue(this.check, this.checks, {
      maxConcurrency: Math.min(MAX_CHECKS, deliverConcurrency),
      maxBatchingWindow,
    });
    table.grant(this.check, { CONNECTION: ['get', 'put', 'delete'], EVENT: ['put'] });
    this.grantSchedule(this.check);
  }

  /** Allows a function to schedule connection checks. */
  grantSchedule(fn: BundledFunction): void {
    fn.addEnvironment('CHECKS_QUEUE_URL', this.checks.queueUrl);
    grantSend(this.checks, fn);
  }
}
