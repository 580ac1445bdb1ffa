import type { Queue } from 'aws-cdk-lib/aws-sqs';
import { Construct } from 'constructs';
import { consumeQueue, createQueue, grantSend } from './queues.ts';
import type { Sender } from './sender.ts';

export interface SummariesProps {
  sender: Sender;
  dashboardUrl: string;
  deadLetters: Queue;
}

/** Summaries of the emails that exceed the limit of a project. Delayed messages check whether a summary is due. */
export class Summaries extends Construct {
  readonly queue: Queue;

  constructor(scope: Construct, id: string, { sender, dashboardUrl, deadLetters }: SummariesProps) {
    super(scope, id);
    this.queue = createQueue(this, 'Summaries', deadLetters);
    consumeQueue(this.queue, sender.events, { maxConcurrency: 2 });
    sender.events.addEnvironment('DASHBOARD_URL', dashboardUrl);
    for (const fn of sender.functions) grantSend(this.queue, fn, 'SUMMARIES_QUEUE_URL');
  }
}
