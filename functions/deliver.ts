import { BatchProcessor, EventType, processPartialResponse } from '@aws-lambda-powertools/batch';
import type { Context, SQSEvent, SQSRecord } from 'aws-lambda';
import { deliveries } from '../lib/aws/deliveries.ts';
import { environment, targets } from '../lib/aws/environment.ts';
import { log } from '../lib/aws/log.ts';
import { mail } from '../lib/aws/mail.ts';
import { projects } from '../lib/aws/projects.ts';
import { MAX_DELAY_SECONDS, queue } from '../lib/aws/queue.ts';
import { receiver } from '../lib/aws/receiver.ts';
import { schedules } from '../lib/aws/schedules.ts';
import { sources } from '../lib/aws/sources.ts';
import { createTable } from '../lib/aws/table.ts';
import { type Deliverer, deliver, handledEvent, type Referred } from '../lib/deliver.ts';
import { attemptName, type DeliveryMessage, parseMessage } from '../lib/delivery.ts';
import { disabledNotification } from '../lib/notification.ts';

export interface DeliverDeps extends Deliverer {
  referred(messages: readonly DeliveryMessage[]): Promise<Referred[]>;
}

/** Deliveries that are due. What one batch refers to is read at once, and all of it is sent at the same time. */
export function createHandler(deps: DeliverDeps) {
  const processor = new BatchProcessor(EventType.SQS);
  return async (batch: SQSEvent, context: Context) => {
    const messages = batch.Records.map(({ body }) => parseMessage(body));
    const valid = messages.filter((message) => message !== null);
    const referred = new Map((await deps.referred(valid)).map((each, i) => [valid[i], each]));
    const handle = async (record: SQSRecord) => {
      const message = messages[batch.Records.indexOf(record)];
      const found = message && referred.get(message);
      if (!found) throw new Error('The message is not a delivery');
      log.info(...handledEvent(message, await deliver(message, found, deps)));
    };
    return processPartialResponse(batch, handle, processor, { context, throwOnFullBatchFailure: false });
  };
}

const table = createTable(environment('TABLE_NAME'));
const queueUrl = environment('DELIVERIES_QUEUE_URL');
const retries = queue(queueUrl);
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
  clock: sources.clock,
  post: receiver(targets()),
  retry(message, { delaySeconds, dueAt }) {
    const group = message.webhookId;
    if (delaySeconds <= MAX_DELAY_SECONDS) return retries.send({ body: message, group, delaySeconds });
    return lateRetries.sendAt(dueAt, attemptName(message), { body: message, group });
  },
  async notify(webhook, event, attempts) {
    const project = await projects(table).get(webhook.projectId);
    if (project) await mails.send(disabledNotification({ project, webhook, event, attempts, dashboardUrl }));
  },
});
