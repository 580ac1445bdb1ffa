import { Duration } from 'aws-cdk-lib';
import type { Table } from 'aws-cdk-lib/aws-dynamodb';
import type { Key } from 'aws-cdk-lib/aws-kms';
import type { Queue } from 'aws-cdk-lib/aws-sqs';
import { Construct } from 'constructs';
import { BundledFunction, consumeQueue } from './bundled-function.ts';
import { grantTable } from './data.ts';
import { createQueue } from './queues.ts';
import type { Settings } from './settings.ts';

export interface ConnectionsProps {
  table: Table;
  settings: Settings;
  deadLetters: Queue;
  encryptionKey: Key | undefined;
}

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
      environment: { TABLE_NAME: table.tableName, CHECKS_QUEUE_URL: this.checks.queueUrl },
      timeout: Duration.seconds(20),
    });
    consumeQueue(this.check, this.checks);
    grantTable(table, this.check, ['dynamodb:GetItem', 'dynamodb:PutItem', 'dynamodb:DeleteItem']);
    this.checks.grant(this.check, 'sqs:SendMessage');
  }
}
