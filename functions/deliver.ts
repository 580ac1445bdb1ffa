import { BatchProcessor, EventType, processPartialResponse } from '@aws-lambda-powertools/batch';
import type { Context, SQSEvent, SQSRecord } from 'aws-lambda';
import { deliveries } from '../lib/aws/deliveries.ts';
import { deliveryQueue } from '../lib/aws/delivery-queue.ts';
import { environment, targets } from '../lib/aws/environment.ts';
import { log } from '../lib/aws/log.ts';
import { mail } from '../lib/aws/mail.ts';
import { countAttempt, publishMetrics } from '../lib/aws/metrics.ts';
import { projects } from '../lib/aws/projects.ts';
import { MAX_DELAY_SECONDS } from '../lib/aws/queue.ts';
import { receiver } from '../lib/aws/receiver.ts';
import { schedules } from '../lib/aws/schedules.ts';
import { sources } from '../lib/aws/sources.ts';
import { createTable } from '../lib/aws/table.ts';
import { type Deliverer, deliver, type Handled, handledEvent, type Referred } from '../lib/deliver.ts';
import { attemptName, type DeliveryMessage, type Lane } from '../lib/delivery.ts';
import { groupOf, parseMessage, type RecoverMessage } from '../lib/messages.ts';
import { disabledNotification } from '../lib/notification.ts';
import { recoverPage } from '../lib/redelivery.ts';

export interface DeliverDeps extends Deliverer {
  referred(messages: readonly DeliveryMessage[]): Promise<Referred[]>;
  recoverPage(message: RecoverMessage): Promise<void>;
}

/** Deliveries that are due. What one batch refers to is read at once, and all of it is sent at the same time. */
export function createHandler(deps: DeliverDeps) {
  const processor = new BatchProcessor(EventType.SQS);
  return async (batch: SQSEvent, context: Context) => {
    const messages = batch.Records.map(({ body }) => parseMessage(body));
    const due = messages.filter((message) => message !== null && !('recover' in message)) as DeliveryMessage[];
    const referred = new Map((await deps.referred(due)).map((each, i) => [due[i], each]));
    const runs = new Map<string, Promise<Handled>>();
    const handle = async (record: SQSRecord) => {
      const message = messages[batch.Records.indexOf(record)];
      if (!message) throw new Error('The message is none of ours');
      if ('recover' in message) return deps.recoverPage(message);
      // Copies of one message in one batch are one delivery.
      const name = attemptName(message);
      const copy = runs.get(name);
      const run = copy ?? deliver(message, referred.get(message) as Referred, deps);
      runs.set(name, run);
      const handled = await run;
      if (copy) return;
      countAttempt(handled);
      log.info(...handledEvent(message, handled));
    };
    const response = await processPartialResponse(batch, handle, processor, {
      context,
      throwOnFullBatchFailure: false,
    });
    publishMetrics();
    return response;
  };
}

const table = createTable(environment('TABLE_NAME'));
const queueUrl = environment('DELIVERIES_QUEUE_URL');
const quick = deliveryQueue(queueUrl);
const slow = deliveryQueue(environment('SLOW_QUEUE_URL'));
const lateRetries = schedules({
  group: environment('SCHEDULE_GROUP'),
  roleArn: environment('SCHEDULE_ROLE_ARN'),
  deadLetterArn: environment('SCHEDULE_DLQ_ARN'),
  queueUrl,
});
const mails = mail(environment('SENDER_EMAIL'));
const dashboardUrl = environment('DASHBOARD_URL');

export const handler = createHandler({
  ...deliveries(table),
  lane: environment('LANE') as Lane,
  clock: sources.clock,
  post: receiver(targets()),
  defer: (message) => slow.send(message),
  retry(message, { delaySeconds, dueAt }) {
    if (delaySeconds <= MAX_DELAY_SECONDS) return quick.send(message, delaySeconds);
    return lateRetries.sendAt(dueAt, attemptName(message), { body: message, group: groupOf(message) });
  },
  async notify(webhook, event, attempts) {
    const project = await projects(table).get(webhook.projectId);
    if (project) await mails.send(disabledNotification({ project, webhook, event, attempts, dashboardUrl }));
  },
  recoverPage: (message) =>
    recoverPage(message, { ...deliveries(table), clock: sources.clock, enqueue: quick.sendAll }),
});
