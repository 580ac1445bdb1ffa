import { Duration } from 'aws-cdk-lib';
import type { Queue } from 'aws-cdk-lib/aws-sqs';
import { Construct } from 'constructs';
import { BundledFunction } from './bundled-function.ts';
import type { DataTable } from './data.ts';
import { consumeQueue, createQueue, grantSend } from './queues.ts';
import type { Settings } from './settings.ts';

export interface ConnectionsProps {
  settings: Settings;
  table: DataTable;
  deadLetters: Queue;
}

/** How long checks are gathered. Many leases expire every second, so this saves invocations and delays events only slightly. */
const GATHERING = Duration.seconds(2);

/** Concurrent batches of checks. */
const MAX_CHECKS = 20;

/** The leases of connections and of engines. Delayed messages check whether a lease has expired. */
export class Connections extends Construct {
  readonly checks: Queue;
  readonly check: BundledFunction;

  constructor(scope: Construct, id: string, { settings, table, deadLetters }: ConnectionsProps) {
    super(scope, id);
    this.checks = createQueue(this, 'Checks', deadLetters);
    this.check = new BundledFunction(this, 'Check', {
      name: 'check-connection',
      description: 'Ends leases that have run out',
      feedsItself: true, // one check per lease, so the chain ends with the connection
    });
    const maxConcurrency = Math.min(MAX_CHECKS, settings.deliverConcurrency);
    consumeQueue(this.checks, this.check, { maxConcurrency, maxBatchingWindow: GATHERING });
    const ENGINE = ['get', 'query', 'put', 'delete'] as const;
    table.grant(this.check, { CONNECTION: ['get', 'put', 'delete'], ENGINE, EVENT: ['put'] });
    this.grantSchedule(this.check);
  }

  /** Allows a function to schedule connection checks. */
  grantSchedule(fn: BundledFunction): void {
    grantSend(this.checks, fn, 'CHECKS_QUEUE_URL');
  }
}
