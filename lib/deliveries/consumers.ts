import { EventType } from '@aws-lambda-powertools/batch';
import type { Context, SQSEvent, SQSRecord } from 'aws-lambda';
import type { Backend } from '../aws/backend.ts';
import { consume } from '../aws/batches.ts';
import { countAttempt, publishMetrics } from '../aws/metrics.ts';
import { variable } from '../aws/runtime.ts';
import { NotYetError, UnavailableError } from '../errors.ts';
import { projectEmails } from '../projects/email-store.ts';
import { type DeliverDeps, type DeliverResult, deliver } from './deliver.ts';
import { type Endpoints, endpoints } from './endpoint-store.ts';
import type { Lane } from './lanes.ts';
import { deliveryLog } from './log-store.ts';
import { attemptName, type DeliveryMessage, parseMessage, type QueueMessage } from './messages.ts';
import { forwarding } from './queue-store.ts';
import { earlyTurn, type SlotRequest, type Turn } from './rate-limit.ts';
import { takeSlots } from './rate-limit-store.ts';
import { recoverPage } from './recovery.ts';
import { type DeliveryContext, deliveries } from './store.ts';

type Lasting = Omit<DeliverDeps, 'store' | 'takeSlot'>;

/**
 * Consumes the messages of a lane. One read loads what a batch refers to, and all of its attempts run at the same time. `post`
 * sends the requests of attempts.
 */
export function deliverConsumer(backend: Backend, post: DeliverDeps['post']) {
  const { clock, log } = backend;
  const lane = variable(backend, 'LANE') as Lane;
  const dashboardUrl = variable(backend, 'DASHBOARD_URL');
  const emails = projectEmails(backend);
  const lasting = { clock, log, lane, post, queues: forwarding(backend, lane), emails, dashboardUrl };
  return async (batch: SQSEvent, context: Context) => {
    const messages = new Map(batch.Records.map((record) => [record, parseMessage(record.body)]));
    const handle = deliverBatch([...messages.values()], lasting, backend);
    const response = await consume<SQSRecord>(EventType.SQS, {
      reportFailure: backend.reportFailure,
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

/**
 * Handles the messages of a batch separately. A message whose handling throws must be received again. One read loads the data of
 * all messages, and if it fails, all of them must be received again. Copies of a message count as one delivery.
 */
function deliverBatch(messages: readonly (QueueMessage | null)[], lasting: Lasting, backend: Backend) {
  const { table, clock } = backend;
  const store = { ...deliveries(table), ...notingOnce(endpoints(table)) };
  const deps: DeliverDeps = { ...lasting, store, takeSlot: takingTogether(backend) };
  const runs = new Map<string, Promise<DeliverResult>>();
  const loading = load();
  loading.catch(() => {}); // every message awaits it

  return async function handle(message: QueueMessage | null): Promise<void> {
    if (!message) throw new Error('The message has an unknown format');
    if ('recover' in message)
      return recoverPage(message, {
        store: { ...store, ...deliveryLog(table) },
        sendAll: lasting.queues.sendAll,
        clock,
      });
    const context = (await loading).get(message);
    if (!context) throw new Error('The data of the message were not read');
    if (context instanceof UnavailableError) throw context;
    const name = attemptName(message);
    const copy = runs.get(name);
    const run = copy ?? deliver(message, context, deps);
    runs.set(name, run);
    const result = await run;
    if (!copy) report(message, result, backend);
    if (result.task === 'wait') throw new NotYetError('Another run is processing the message');
  };

  async function load(): Promise<Map<QueueMessage, DeliveryContext | UnavailableError>> {
    const due = messages.filter((message): message is DeliveryMessage => message !== null && !('recover' in message));
    const contexts = await store.loadContexts(due);
    return new Map(due.map((message, i) => [message, contexts[i] as (typeof contexts)[number]]));
  }
}

/** Takes the slots of all messages of a webhook together, so that a batch has one read and one write for each webhook. */
function takingTogether({ table, clock }: Backend): DeliverDeps['takeSlot'] {
  const groups = new Map<string, { requests: SlotRequest[]; turns: Promise<Turn[]> }>();
  return async ({ webhookId, slot, trigger }, maxPerSecond, isTest) => {
    const request = { slot, isTest, isRecovery: trigger === 'recovery' };
    const early = earlyTurn(request, maxPerSecond, clock());
    if (early !== undefined) return early;
    const requests: SlotRequest[] = [];
    const take = () => {
      groups.delete(webhookId);
      return takeSlots(table, webhookId, maxPerSecond, requests, clock());
    };
    const group = groups.get(webhookId) ?? { requests, turns: Promise.resolve().then(take) };
    groups.set(webhookId, group);
    const index = group.requests.push(request) - 1;
    return (await group.turns)[index] ?? null;
  };
}

/**
 * Of several deliveries of a batch to one endpoint, the first one makes a note. If that fails, the next one does. Overdue attempts
 * to one endpoint occupy the same environment, so all of them stay or leave with the first.
 */
const notingOnce = (store: Endpoints): Endpoints => ({
  ...store,
  beginOutage: oncePerWebhook(store.beginOutage),
  endOutage: oncePerWebhook(store.endOutage),
  endOverload: oncePerWebhook(store.endOverload),
  suspect: oncePerWebhook(store.suspect),
});

function oncePerWebhook<Webhook extends { id: string }, Times extends number[], Result>(
  note: (webhook: Webhook, ...times: Times) => Promise<Result>,
): typeof note {
  const noted = new Map<string, Promise<Result>>();
  return (webhook, ...times) => {
    const { id } = webhook;
    const noting = noted.get(id) ?? note(webhook, ...times);
    noted.set(id, noting);
    noting.catch(() => noted.delete(id));
    return noting;
  };
}

/** Counts and logs the result of a message. A failed attempt is a warning, and everything else is information. */
function report(message: DeliveryMessage, result: DeliverResult, { log }: Backend): void {
  const delivery = deliveryFields(message);
  if (!('attempt' in result)) {
    log.info('delivery.not_attempted', { ...delivery, reason: result.task });
    return;
  }
  const { verdict, attempt, disabled, isRecorded } = result;
  const isFailure = verdict.status !== 'succeeded';
  // Another run counts an attempt that it recorded.
  if (isRecorded) countAttempt(attempt.durationMs, { isFailure, isDisabling: disabled });
  const { statusCode, error, durationMs } = attempt;
  const outcome = { status: verdict.status, status_code: statusCode, error, duration_ms: durationMs, disabled };
  log[isFailure ? 'warn' : 'info']('delivery.attempted', { ...delivery, ...outcome });
}

/** The fields that name a delivery in the log. */
const deliveryFields = (message: DeliveryMessage): Record<string, unknown> => ({
  webhook_id: message.webhookId,
  event_id: message.eventId,
  project_id: message.projectId,
  environment: message.environment,
  run: message.run,
  attempt: message.attempt,
});
