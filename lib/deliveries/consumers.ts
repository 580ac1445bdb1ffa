import { EventType } from '@aws-lambda-powertools/batch';
import type { Context, SQSEvent, SQSRecord } from 'aws-lambda';
import type { Backend } from '../aws/backend.ts';
import { consume } from '../aws/batches.ts';
import { countAttempt, publishMetrics } from '../aws/metrics.ts';
import { allDone } from '../concurrency.ts';
import { NotYetError, UnavailableError } from '../errors.ts';
import { type Batch, batches } from './batch.ts';
import type { DeliveryContext } from './decide.ts';
import { deliver } from './deliver.ts';
import type { HttpPost } from './http-post.ts';
import {
  attemptName,
  type DeliveryMessage,
  firstMessage,
  isDelivery,
  parseMessage,
  type QueueMessage,
  type SpreadMessage,
} from './messages.ts';
import { recoverPage } from './recovery-consumers.ts';
import type { DeliverResult } from './stages.ts';

/**
 * Consumes the messages of a lane. One read loads what a batch refers to, and all of its attempts run at the same time. `post`
 * sends the requests of attempts.
 */
export function deliverConsumer(backend: Backend, post: HttpPost) {
  const newBatch = batches(backend, post);
  return async (event: SQSEvent, context: Context) => {
    const messages = new Map(event.Records.map((record) => [record, parseMessage(record.body)]));
    const handle = handlerOf([...messages.values()], newBatch());
    const response = await consume<SQSRecord>(EventType.SQS, {
      reportFailure: backend.reportFailure,
      handle: (record) => handle(messages.get(record) ?? null),
      describe(record) {
        const message = messages.get(record);
        return ['delivery.handling_failed', { message_id: record.messageId, ...(message && fieldsOf(message)) }];
      },
    })(event, context);
    publishMetrics();
    return response;
  };
}

/**
 * Handles the messages of a batch separately. A message whose handling throws must be received again. One read loads the data of
 * all messages, and if it fails, all of them must be received again. Copies of a message count as one delivery.
 */
function handlerOf(messages: readonly (QueueMessage | null)[], batch: Batch) {
  const runs = new Map<string, Promise<DeliverResult>>();
  const loading = load();
  loading.catch(() => {}); // every message awaits it

  return async function handle(message: QueueMessage | null): Promise<void> {
    if (!message) throw new Error('The message has an unknown format');
    if ('recover' in message) return recoverPage(message, batch);
    if ('spread' in message) return spread(message, batch);
    const context = (await loading).get(message);
    if (!context) throw new Error('The data of the message were not read');
    if (context instanceof UnavailableError) throw context;
    const name = attemptName(message);
    const copy = runs.get(name);
    const run = copy ?? deliver(message, context, batch);
    runs.set(name, run);
    const result = await run;
    if (!copy) report(message, result, batch);
    if (result.kind === 'again') throw new NotYetError('Another function is processing the message');
  };

  async function load(): Promise<Map<QueueMessage, DeliveryContext | UnavailableError>> {
    const due = messages.filter((message): message is DeliveryMessage => message !== null && isDelivery(message));
    const contexts = await batch.deliveries.loadContexts(due);
    return new Map(due.map((message, i) => [message, contexts[i] as (typeof contexts)[number]]));
  }
}

/**
 * Starts the deliveries of an event to a part of its webhooks. A repetition is harmless, because a recorded attempt is not made
 * again.
 */
async function spread(
  { spread: { to, webhookIds, eventId, event, ...space } }: SpreadMessage,
  { deliveries, send, clock }: Batch,
) {
  const messages = webhookIds.map((id) => firstMessage(space, id, eventId, { event }));
  if (to !== 'disabled' && to !== 'paused') return send(to, messages);
  const contexts = await deliveries.loadContexts(messages);
  await allDone(
    messages.map(async (message, i) => {
      const context = contexts[i];
      if (context instanceof UnavailableError) throw context;
      const end = { status: 'skipped', reason: to } as const;
      if (context?.webhook) await deliveries.endRun(message, context.event, end, clock());
    }),
  );
}

/** Counts and logs the result of a message. A failed attempt is a warning, and everything else is information. */
function report(message: DeliveryMessage, result: DeliverResult, { log, lane }: Batch): void {
  const delivery = { ...fieldsOf(message), lane };
  const recorded = result.kind === 'notAttempted' ? undefined : result.recorded;
  if (!recorded) {
    const reason = result.kind === 'notAttempted' ? result.reason : 'wait';
    log.info('delivery.not_attempted', { ...delivery, reason });
    return;
  }
  const { verdict, attempt, disabled, by, waitedMs } = recorded;
  const isFailure = verdict.status !== 'succeeded';
  if (by === 'us') countAttempt(attempt.durationMs, { isFailure, isDisabling: disabled });
  const { statusCode, error, reason, durationMs } = attempt;
  const response = { status_code: statusCode, error, error_reason: reason ?? null };
  const times = { duration_ms: durationMs, waited_ms: waitedMs };
  const outcome = { status: verdict.status, ...response, ...times, disabled };
  log[isFailure ? 'warn' : 'info']('delivery.attempted', { ...delivery, ...outcome });
}

/** The fields that name a delivery, a recovery or an event in the log. */
function fieldsOf(message: QueueMessage): Record<string, unknown> {
  if ('spread' in message) {
    const { projectId, environment, eventId } = message.spread;
    return { project_id: projectId, environment, event_id: eventId };
  }
  const { projectId, environment, webhookId } = 'recover' in message ? message.recover : message;
  const webhook = { project_id: projectId, environment, webhook_id: webhookId };
  if ('recover' in message) return { ...webhook, recovery_id: message.recover.recoveryId };
  return { ...webhook, event_id: message.eventId, run: message.run, attempt: message.attempt };
}
