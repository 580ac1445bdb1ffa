import { Duration } from 'aws-cdk-lib';
import type { Table } from 'aws-cdk-lib/aws-dynamodb';
import { Queue, QueueEncryption } from 'aws-cdk-lib/aws-sqs';
import { Construct } from 'constructs';
import { BundledFunction, consumeQueue } from './bundled-function.ts';
import type { Settings } from './settings.ts';

export interface ConnectionsProps {
  table: Table;
  settings: Settings;
  deadLetters: Queue;
}

/** Leases of connections: delayed messages that look whether they have run out. */
export class Connections extends Construct {
  readonly checks: Queue;

  constructor(scope: Construct, id: string, { table, settings, deadLetters }: ConnectionsProps) {
    super(scope, id);
    this.checks = new Queue(this, 'Checks', {
      encryption: QueueEncryption.SQS_MANAGED,
      enforceSSL: true,
      visibilityTimeout: Duration.minutes(2),
      deadLetterQueue: { queue: deadLetters, maxReceiveCount: 5 },
    });
    const check = new BundledFunction(this, 'Check', {
      name: 'check-connection',
      description: 'Ends leases that have run out',
      settings,
      environment: { TABLE_NAME: table.tableName, CHECKS_QUEUE_URL: this.checks.queueUrl },
      timeout: Duration.seconds(20),
    });
    consumeQueue(check, this.checks);
    table.grant(check, 'dynamodb:GetItem', 'dynamodb:PutItem', 'dynamodb:DeleteItem');
    this.checks.grant(check, 'sqs:SendMessage');
  }
}
