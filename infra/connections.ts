import { Duration } from 'aws-cdk-lib';
import type { Key } from 'aws-cdk-lib/aws-kms';
import type { Queue } from 'aws-cdk-lib/aws-sqs';
import { Construct } from 'constructs';
import { BundledFunction, consumeQueue } from './bundled-function.ts';
import type { DataTable } from './data.ts';
import { createQueue, grantSend } from './queues.ts';
import type { Settings } from './settings.ts';

export interface ConnectionsProps {
  table: DataTable;
  settings: Settings;
  deadLetters: Queue;
  encryptionKey: Key | undefined;
}

/** How long checks are gathered. Many leases expire every second, so this saves invocations and delays events only slightly. */
const GATHERED_SECONDS = 2;

/** Concurrent batches of checks. */
const MAX_CHECKS = 20;

/** Connection leases. Delayed messages check whether a lease has expired. */
export class Connections extends Construct {
  readonly checks: Queue;
  readonly check: BundledFunction;

  constructor(scope: Construct, id: string, { table, settings, deadLetters, encryptionKey }: ConnectionsProps) {
    super(scope, id);
    this.checks = createQueue(this, 'Checks', { encryptionKey, deadLetters });
    this.check = new BundledFunction(this, 'Check', {
      name: 'check-connection',
      description: 'Ends leases that have run out',
      settings,
      feedsItself: true, // one check per lease, so the chain ends with the connection
    });
    const maxBatchingWindow = Duration.seconds(GATHERED_SECONDS);
    consumeQueue(this.check, this.checks, {
      maxConcurrency: Math.min(MAX_CHECKS, settings.deliverConcurrency),
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
