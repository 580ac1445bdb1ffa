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

/** For how long checks are gathered: many leases end every second, and none that ended is missed for that moment. */
const GATHERED_SECONDS = 2;

/** Concurrent batches of checks. */
const MAX_CHECKS = 20;

/** Leases of connections: delayed messages that look whether they have run out. */
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
      environment: { TABLE_NAME: table.name, CHECKS_QUEUE_URL: this.checks.queueUrl },
      timeout: Duration.seconds(20),
      feedsItself: true, // one check for each lease: it ends with the connection
    });
    const maxBatchingWindow = Duration.seconds(GATHERED_SECONDS);
    consumeQueue(this.check, this.checks, {
      maxConcurrency: Math.min(MAX_CHECKS, settings.deliverConcurrency),
      maxBatchingWindow,
    });
    table.grant(this.check, { CONNECTION: ['get', 'put', 'delete'], EVENT: ['put'] });
    grantSend(this.checks, this.check);
  }

  /** Having connections looked at. */
  grantSchedule(fn: BundledFunction): void {
    fn.addEnvironment('CHECKS_QUEUE_URL', this.checks.queueUrl);
    grantSend(this.checks, fn);
  }
}
