import {
  type Attempt,
  type DeliveryMessage,
  type DeliveryRecord,
  type Due,
  dueAfter,
  isSlow,
  type Lane,
  type Outcome,
  SLOW_ATTEMPT_MS,
  SLOW_FOR_MS,
  type Task,
  taskOf,
  type Verdict,
  verdictOn,
} from './delivery.ts';
import type { StoredEvent } from './events.ts';
import { signatureHeaders } from './signature.ts';
import { previousSecretAt, type WebhookRecord } from './webhooks.ts';

export interface Deliverer {
  lane: Lane;
  clock(): number;
  post(request: { url: string; headers: Record<string, string>; body: string }): Promise<Outcome>;
  /** Hands the next attempt to the queue or a schedule. At least once. */
  retry(message: DeliveryMessage, due: Due): Promise<void>;
  /** Hands the message to the slow lane. At least once. */
  defer(message: DeliveryMessage): Promise<void>;
  setSlow(message: DeliveryMessage, slowUntil: number | undefined): Promise<void>;
  /** `false` if another run has recorded this attempt, or a newer round has begun. */
  record(message: DeliveryMessage, event: StoredEvent, attempt: Attempt, verdict: Verdict): Promise<boolean>;
  /** Notes that the retry which the last record owes is queued. */
  markRetried(message: DeliveryMessage): Promise<void>;
  exhaust(
    message: DeliveryMessage,
    event: StoredEvent,
    attempt: Attempt,
    nowMs: number,
  ): Promise<'disabled' | 'recorded'>;
  end(message: DeliveryMessage, event: StoredEvent, status: 'canceled', nowMs: number): Promise<void>;
  notify(webhook: WebhookRecord, event: StoredEvent, attempts: readonly Attempt[]): Promise<void>;
  markMailed(message: DeliveryMessage, nowMs: number): Promise<void>;
}

/** What a message refers to. */
export interface Referred {
  webhook: WebhookRecord | undefined;
  event: StoredEvent | undefined;
  delivery: DeliveryRecord | undefined;
}

/** What became of a message: a task that needed no attempt, or the attempt and its verdict. */
export type Handled =
  | { task: Exclude<Task, 'send'> }
  | { task: 'send'; attempt: Attempt; verdict: Verdict; disabled: boolean };

/**
 * Deals with one message. The order of effects makes it lossless: POST, this attempt recorded with the retry that it
 * owes, the retry queued, the debt struck out. A crash in between repeats work and drops none; what is recorded is not
 * sent again, and of two copies of a message only one goes on. It throws for our own faults only, and then the message
 * comes again with the same attempt number.
 */
export async function deliver(message: DeliveryMessage, referred: Referred, deliverer: Deliverer): Promise<Handled> {
  const { webhook, event, delivery } = referred;
  if (!webhook || !event) return { task: 'drop' }; // deleted, or older than we keep events
  const isTest = event.webhookId !== undefined;
  const isDeferred = deliverer.lane === 'quick' && isSlow(webhook, deliverer.clock());
  const task = taskOf(message, webhook, delivery, isTest, isDeferred);
  switch (task) {
    case 'send':
      return send(message, { webhook, event, delivery }, isTest, deliverer);
    case 'cancel':
      await deliverer.end(message, event, 'canceled', deliverer.clock());
      break;
    case 'defer':
      await deliverer.defer(message);
      break;
    case 'requeue':
      await requeue(message, dueAfter(delivery?.nextAttemptAt ?? 0, deliverer.clock()), deliverer);
      break;
    case 'notify':
      await notify(message, webhook, event, delivery?.attempts ?? [], deliverer);
  }
  return { task };
}

async function send(
  message: DeliveryMessage,
  { webhook, event, delivery }: Referred & { webhook: WebhookRecord; event: StoredEvent },
  isTest: boolean,
  deliverer: Deliverer,
): Promise<Handled> {
  const attempt = await post(message, webhook, event, isTest, deliverer);
  await judgePace(message, webhook, attempt, deliverer);
  const verdict = verdictOn(attempt, isTest);
  if (verdict.status === 'failed' && !isTest) {
    const disabled = (await deliverer.exhaust(message, event, attempt, deliverer.clock())) === 'disabled';
    if (disabled) await notify(message, webhook, event, [...(delivery?.attempts ?? []), attempt], deliverer);
    return { task: 'send', attempt, verdict, disabled };
  }
  const recorded = await deliverer.record(message, event, attempt, verdict);
  if (recorded && verdict.status === 'retrying') await requeue(message, verdict, deliverer);
  return { task: 'send', attempt, verdict, disabled: false };
}

async function requeue(message: DeliveryMessage, due: Due, { retry, markRetried }: Deliverer): Promise<void> {
  await retry({ ...message, attempt: message.attempt + 1 }, due);
  await markRetried(message);
}

/** The log event of a dealt-with message. */
export function handledEvent(
  message: DeliveryMessage,
  handled: Handled,
): [event: string, fields: Record<string, unknown>] {
  const delivery = {
    webhook_id: message.webhookId,
    event_id: message.eventId,
    project_id: message.projectId,
    environment: message.environment,
    round: message.round,
    attempt: message.attempt,
  };
  if (handled.task !== 'send') return ['delivery.passed_over', { ...delivery, task: handled.task }];
  const { verdict, attempt, disabled } = handled;
  const { statusCode, error, durationMs } = attempt;
  return [
    'delivery.attempted',
    { ...delivery, status: verdict.status, status_code: statusCode, error, duration_ms: durationMs, disabled },
  ];
}

async function post(
  message: DeliveryMessage,
  webhook: WebhookRecord,
  event: StoredEvent,
  isTest: boolean,
  { clock, post }: Deliverer,
): Promise<Attempt> {
  const at = clock();
  const headers = {
    'Content-Type': 'application/json',
    'User-Agent': 'document-sync-webhooks/1',
    'X-Service-Event-Id': event.id,
    'X-Service-Event-Type': event.type,
    'X-Service-Attempt': String(message.attempt),
    ...(isTest && { 'X-Service-Test': 'true' }),
    ...signatureHeaders({
      secret: webhook.secret,
      previousSecret: previousSecretAt(webhook, at),
      id: event.id,
      timestampSeconds: Math.floor(at / 1000),
      body: event.body,
    }),
  };
  const outcome = await post({ url: webhook.url, headers, body: event.body });
  return { number: message.attempt, at, ...outcome };
}

// Before anything else: the sooner a slow receiver is known, the fewer messages wait for it.
async function judgePace(
  message: DeliveryMessage,
  webhook: WebhookRecord,
  { durationMs }: Attempt,
  { lane, clock, setSlow }: Deliverer,
): Promise<void> {
  const now = clock();
  if (durationMs > SLOW_ATTEMPT_MS) {
    const isMarked = isSlow(webhook, now + SLOW_FOR_MS / 2);
    if (!isMarked) await setSlow(message, now + SLOW_FOR_MS);
  } else if (lane === 'slow' && webhook.slowUntil !== undefined) await setSlow(message, undefined);
}

async function notify(
  message: DeliveryMessage,
  webhook: WebhookRecord,
  event: StoredEvent,
  attempts: readonly Attempt[],
  deliverer: Deliverer,
): Promise<void> {
  await deliverer.notify(webhook, event, attempts.slice(-message.attempt));
  await deliverer.markMailed(message, deliverer.clock());
}
