import { EventType } from '@aws-lambda-powertools/batch';
import type { Context, SQSEvent, SQSRecord } from 'aws-lambda';
import { consume, NotYet } from '../lib/aws/consumer.ts';
import { laneQueues } from '../lib/aws/delivery-queue.ts';
import { deliveries } from '../lib/aws/dynamodb/deliveries.ts';
import { deliveryLog } from '../lib/aws/dynamodb/delivery-log.ts';
import { disabling } from '../lib/aws/dynamodb/disabling.ts';
import { projects } from '../lib/aws/dynamodb/projects.ts';
import { createTable } from '../lib/aws/dynamodb/table.ts';
import { email } from '../lib/aws/email.ts';
import { addressPolicy, environment } from '../lib/aws/environment.ts';
import { httpPost } from '../lib/aws/http-post.ts';
import { log } from '../lib/aws/log.ts';
import { countAttempt, publishMetrics } from '../lib/aws/metrics.ts';
import { MAX_DELAY_SECONDS } from '../lib/aws/queue.ts';
import { schedules } from '../lib/aws/schedules.ts';
import { system } from '../lib/aws/system.ts';
import { type DeliverDeps, type DeliverResult, type DeliveryContext, deliver } from '../lib/delivery/deliver.ts';
import { type Lane, SUSPECT_AFTER_MS } from '../lib/delivery/lanes.ts';
import { deliveryFields, resultEvent } from '../lib/delivery/log.ts';
import {
  attemptName,
  type DeliveryMessage,
  groupOf,
  parseMessage,
  type QueueMessage,
  type RecoverMessage,
} from '../lib/delivery/messages.ts';
import { disabledNotification } from '../lib/delivery/notification.ts';
import { recoverPage } from '../lib/delivery/redelivery.ts';
import { LANE_QUEUES } from '../lib/deployment.ts';
import { withStages } from '../lib/stages.ts';

export interface HandlerDeps extends DeliverDeps {
  loadContexts(messages: readonly DeliveryMessage[]): Promise<DeliveryContext[]>;
  recoverPage(message: RecoverMessage): Promise<void>;
}

/** Deliveries that are due. What one batch refers to is read at once, and all of it is sent at the same time. */
export function createHandler(deps: HandlerDeps) {
  return async (batch: SQSEvent, context: Context) => {
    const messages = new Map(batch.Records.map((record) => [record, parseMessage(record.body)]));
    const due = [...messages.values()].filter((message) => message !== null && !('recover' in message));
    const loaded = load(due as DeliveryMessage[]);
    const runs = new Map<string, Promise<DeliverResult>>();
    const response = await consume<SQSRecord>(EventType.SQS, {
      handle: (record) => handle(messages.get(record) ?? null, loaded, runs),
      describe(record) {
        const message = messages.get(record);
        const named = message && !('recover' in message) ? deliveryFields(message) : message?.recover;
        return ['delivery.handling_failed', { message_id: record.messageId, ...named }];
      },
    })(batch, context);
    publishMetrics();
    return response;
  };

  // If it cannot be read, every message of the batch fails by itself and comes again.
  async function load(due: DeliveryMessage[]): Promise<Map<DeliveryMessage, DeliveryContext>> {
    const found = await deps.loadContexts(due);
    return new Map(due.map((message, i) => [message, found[i] as DeliveryContext]));
  }

  async function handle(
    message: QueueMessage | null,
    loaded: ReturnType<typeof load>,
    runs: Map<string, Promise<DeliverResult>>,
  ): Promise<void> {
    if (!message) throw new Error('The message is none of ours');
    if ('recover' in message) return deps.recoverPage(message);
    const context = (await loaded).get(message) as DeliveryContext;
    // Copies of one message in one batch are one delivery.
    const name = attemptName(message);
    const copy = runs.get(name);
    const run = copy ?? deliver(message, context, deps);
    runs.set(name, run);
    const result = await run;
    if (!copy) {
      countAttempt(result);
      log.info(...resultEvent(message, result));
    }
    if (result.task === 'wait') throw new NotYet('Another run is sending the email');
  }
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
const deps: HandlerDeps = {
  ...deliveries(table),
  ...disabling(table),
  lane,
  clock: system.clock,
  post: httpPost(addressPolicy(), { slowAfterMs: SUSPECT_AFTER_MS }),
  warn: (event, fields) => log.warn(event, fields),
  defer: (message, slower) => queues[slower].send(message),
  retry(message, { delaySeconds, dueAt }) {
    if (delaySeconds <= MAX_DELAY_SECONDS) return queues[lane].send(message, delaySeconds);
    return lateRetries.sendAt(dueAt, attemptName(message), { body: message, group: groupOf(message) });
  },
  async notify(webhook, event, attempts) {
    const project = await projects(table).get(webhook.projectId);
    if (project) await emails.send(disabledNotification({ project, webhook, event, attempts, dashboardUrl }));
  },
  recoverPage: (message) =>
    recoverPage(message, { ...deliveryLog(table), clock: system.clock, enqueue: queues.quick.sendAll }),
};

export const handler = createHandler(withStages(deps));
