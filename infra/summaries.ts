import type { Queue } from 'aws-cdk-lib/aws-sqs';
import { Construct } from 'constructs';
import type { Variable } from '../lib/deployment.ts';
import { type BundledFunction, consumeQueue } from './bundled-function.ts';
import { createQueue, grantSend } from './queues.ts';

export interface SummariesProps {
  /** The function that sends the summaries. */
  events: BundledFunction;
  /** The functions that send emails, which leave some of them to a summary. */
  senders: readonly BundledFunction[];
  dashboardUrl: string;
  deadLetters: Queue;
}

/** Summaries of the emails that exceed the limit of a project. Delayed messages check whether a summary is due. */
export class Summaries extends Construct {
  readonly queue: Queue;

  constructor(scope: Construct, id: string, { events, senders, dashboardUrl, deadLetters }: SummariesProps) {
    super(scope, id);
    this.queue = createQueue(this, 'Summaries', deadLetters);
    consumeQueue(events, this.queue, { maxConcurrency: 2 });
    events.addEnvironment('DASHBOARD_URL' satisfies Variable, dashboardUrl);
    for (const fn of [events, ...senders]) {
      fn.addEnvironment('SUMMARIES_QUEUE_URL' satisfies Variable, this.queue.queueUrl);
      grantSend(this.queue, fn);
    }
  }
}
