import { EventType } from '@aws-lambda-powertools/batch';
import type { Context, SQSEvent, SQSRecord } from 'aws-lambda';
import { consume } from '../lib/aws/consumer.ts';
import { laneQueues } from '../lib/aws/delivery-queue.ts';
import { deliveries } from '../lib/aws/dynamodb/deliveries.ts';
import { deliveryLog } from '../lib/aws/dynamodb/delivery-log.ts';
import { disabling } from '../lib/aws/dynamodb/disabling.ts';
import { outages } from '../lib/aws/dynamodb/outages.ts';
import { projects } from '../lib/aws/dynamodb/projects.ts';
import { createTable } from '../lib/aws/dynamodb/table.ts';
import { email } from '../lib/aws/email.ts';
import { addressPolicy, environment } from '../lib/aws/environment.ts';
import { httpPost } from '../lib/aws/http-post.ts';
import { log } from '../lib/aws/log.ts';
import { countAttempt, publishMetrics } from '../lib/aws/metrics.ts';
import { schedules } from '../lib/aws/schedules.ts';
import { system } from '../lib/aws/system.ts';
import { type BatchDeps, deliverBatch } from '../lib/delivery/batch.ts';
import { type Lane, SUSPECT_AFTER_MS } from '../lib/delivery/lanes.ts';
import { deliveryFields, resultEvent } from '../lib/delivery/log.ts';
import { groupOf, parseMessage } from '../lib/delivery/messages.ts';
import { disabledNotification, type FailingWebhook, warningNotification } from '../lib/delivery/notification.ts';
import { recoverPage } from '../lib/delivery/redelivery.ts';
import { retryBy } from '../lib/delivery/retry.ts';
import { LANE_QUEUES } from '../lib/deployment.ts';
import type { Email } from '../lib/email.ts';
import { withStages } from '../lib/stages.ts';

/** Deliveries that are due. What one batch refers to is read at once, and all of it is sent at the same time. */
export function createHandler(deps: BatchDeps) {
  return async (batch: SQSEvent, context: Context) => {
    const messages = new Map(batch.Records.map((record) => [record, parseMessage(record.body)]));
    const handle = deliverBatch([...messages.values()], deps);
    const response = await consume<SQSRecord>(EventType.SQS, {
      handle: (record) => handle(messages.get(record) ?? null),
      describe(record) {
        const message = messages.get(record);
        const named = message && !('recover' in message) ? deliveryFields(message) : message?.recover;
        return ['delivery.handling_failed', { message_id: record.messageId, ...named }];
      },
    })(batch, context);
    publishMetrics();
    return response;
  };
}

const table = createTable(environment('TABLE_NAME'));
const queues = laneQueues();
const lateRetries = schedules({
  group: environment('SCHEDULE_GROUP'),
  roleArn: environment('SCHEDULE_ROLE_ARN'),
  deadLetterArn: environment('SCHEDULE_DLQ_ARN'),
  queueUrl: environment(LANE_QUEUES.quick),
});
const emails = email(environment('SENDER_EMAIL'));
const dashboardUrl = environment('DASHBOARD_URL');

const lane = environment('LANE') as Lane;
const deps: BatchDeps = {
  ...deliveries(table),
  ...disabling(table),
  ...outages(table),
  lane,
  clock: system.clock,
  post: httpPost(addressPolicy(), { slowAfterMs: SUSPECT_AFTER_MS }),
  warn: (event, fields) => log.warn(event, fields),
  defer: (message, slower) => queues[slower].send(message),
  retry: retryBy({
    enqueue: (message, delaySeconds) => queues[lane].send(message, delaySeconds),
    schedule: (name, message, atMs) => lateRetries.sendAt(atMs, name, { body: message, group: groupOf(message) }),
  }),
  done(message, result) {
    countAttempt(result);
    const { level, event, fields } = resultEvent(message, result);
    log[level](event, fields);
  },
  notify: notifyBy(disabledNotification),
  sendWarning: notifyBy(warningNotification),
  recoverPage: (message) =>
    recoverPage(message, { ...deliveryLog(table), clock: system.clock, enqueue: queues.quick.sendAll }),
};

function notifyBy(notification: (failing: FailingWebhook) => Email): BatchDeps['notify'] {
  return async (webhook, event, attempts) => {
    const project = await projects(table).get(webhook.projectId);
    if (project) await emails.send(notification({ project, webhook, event, attempts, dashboardUrl }));
  };
}

export const handler = createHandler(withStages(deps));
