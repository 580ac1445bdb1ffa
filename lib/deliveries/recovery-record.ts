import * as v from 'valibot';
import { timeOf } from '../id-time.ts';
import { type Random, sortableId } from '../ids.ts';
import { described, iso, isoOrNull, resource, timestamp, wholeNumber } from '../schema.ts';
import type { WebhookRecord } from '../webhooks/webhook.ts';
import type { RecoverMessage } from './messages.ts';
import {
  DEFAULT_PER_SECOND,
  type RecoveryWindow,
  type RequestedWindow,
  windowOf,
  windowStart,
} from './recovery-window.ts';
import type { DeliveryStatus } from './retry-schedule.ts';

/** The position of a recovery, which processes one status after the other. */
export interface RecoveryPosition {
  status: DeliveryStatus;
  after?: string | undefined;
}

/** How many runs a recovery started, and their results so far. */
export type RecoveryCounts = Record<'sent' | 'delivered' | 'failed', number>;

/**
 * The stored recovery of a webhook, which is the current or the last one. It is current as long as it has no end and the webhook
 * contains its id. Times are in milliseconds since 1970.
 */
export interface RecoveryRecord extends RecoveryWindow, Partial<RecoveryCounts> {
  id: string;
  /** Deliveries in a page, which takes a second. */
  perSecond: number;
  startedAt: number;
  endedAt?: number | undefined;
  /** The page that is due. */
  page: number;
  /** Where this page starts. Absent for the first one. */
  from?: RecoveryPosition | undefined;
  /** The last page is recorded, but the message of the next one may not be queued yet. */
  nextPending?: boolean | undefined;
  /** When the last page was recorded. */
  progressAt: number;
}

/** The index by status follows the table within a second. A recovery starts after a safe margin. */
export const RECOVERY_DELAY_SECONDS = 10;

/** How long the request that sent the first message can take to store the recovery. It is longer than the timeout of its function. */
export const STARTING_MS = 2 * 60 * 1000;

/**
 * How long a page can take. Its message is received again for an hour, and is then a dead letter. A recovery without progress for
 * longer does not prevent another one.
 */
export const STALLED_AFTER_MS = 2 * 60 * 60 * 1000;

export function newRecovery(
  webhook: WebhookRecord,
  { perSecond = DEFAULT_PER_SECOND, ...requested }: RequestedWindow & { perSecond?: number | undefined },
  now: number,
  random: Random,
): RecoveryRecord {
  const id = sortableId('rec', now, random);
  return { id, ...windowOf(webhook, requested, now), perSecond, startedAt: now, page: 0, progressAt: now };
}

/** The message of the page that is due. */
export const pageMessage = (
  { projectId, environment, id: webhookId }: Pick<WebhookRecord, 'projectId' | 'environment' | 'id'>,
  { id: recoveryId, page }: Pick<RecoveryRecord, 'id' | 'page'>,
): RecoverMessage => ({ recover: { webhookId, projectId, environment, recoveryId, page } });

/** Whether it can send deliveries. A disabled webhook no longer contains its id. */
export const isCurrent = (
  { id, endedAt }: RecoveryRecord,
  { recoveryId }: Pick<WebhookRecord, 'recoveryId'>,
): boolean => endedAt === undefined && recoveryId === id;

/** Why a recovery cannot start. `stalled`: the current one must end first, because its messages are lost. */
export type Hindrance = 'webhook disabled' | 'recovery running' | { stalled: RecoveryRecord };

/**
 * The reason why a recovery cannot start, if there is one. A webhook has at most one at a time, and `current` is its current one.
 * `isEnabling`: the new one enables the webhook.
 */
export function hindranceOf(
  { status }: Pick<WebhookRecord, 'status'>,
  current: RecoveryRecord | undefined,
  isEnabling: boolean,
  nowMs: number,
): Hindrance | undefined {
  if (status === 'disabled' && !isEnabling) return 'webhook disabled';
  if (!current) return undefined;
  return nowMs > current.progressAt + STALLED_AFTER_MS ? { stalled: current } : 'recovery running';
}

/** The stored data of a message. */
export interface RecoveryContext {
  webhook: WebhookRecord | undefined;
  recovery: RecoveryRecord | undefined;
  /** Whether the project is suspended. */
  isSuspended: boolean;
}

/**
 * The task of a message of a recovery. `drop`: it is of an older or ended recovery, or its page is done. `wait`: its recovery is
 * not stored yet. `requeue`: its page is done, but the message of the next one may not be queued. `end`: the webhook is disabled or
 * deleted, or the project is suspended. `send`: its page is due.
 */
export type PageTask =
  | { task: 'drop' | 'wait' }
  | { task: 'requeue' | 'end'; recovery: RecoveryRecord }
  | { task: 'send'; recovery: RecoveryRecord; webhook: WebhookRecord };

export function pageTaskOf(
  { recoveryId, page }: RecoverMessage['recover'],
  { webhook, recovery, isSuspended }: RecoveryContext,
  nowMs: number,
): PageTask {
  if (recovery?.id !== recoveryId) {
    const isStarting = nowMs < timeOf(recoveryId) + STARTING_MS && (recovery === undefined || recovery.id < recoveryId);
    return { task: isStarting ? 'wait' : 'drop' };
  }
  if (recovery.endedAt !== undefined) return { task: 'drop' };
  if (isSuspended || !webhook || !isCurrent(recovery, webhook)) return { task: 'end', recovery };
  if (page === recovery.page) return { task: 'send', recovery, webhook };
  return isNextPending({ id: recoveryId, page }, recovery) ? { task: 'requeue', recovery } : { task: 'drop' };
}

/** Whether a page is recorded, but the message of the next one may not be queued. */
export const isNextPending = (
  { id, page }: Pick<RecoveryRecord, 'id' | 'page'>,
  stored: RecoveryRecord | undefined,
): boolean =>
  stored?.id === id && stored.endedAt === undefined && stored.page === page + 1 && stored.nextPending === true;

const count = (meaning: string) => described(wholeNumber(), meaning);

export const RecoveryResource = resource('Recovery', {
  recovery_id: described(v.string(), 'Identifies the recovery.'),
  started_at: described(timestamp, 'When the recovery was started.'),
  ended_at: described(
    v.nullable(timestamp),
    'When the recovery started its last delivery, was stopped, or ended because the webhook was disabled or the project suspended. `null` while it is running.',
  ),
  since: described(
    timestamp,
    'The start of the window. By default, the recovery covers deliveries that ended without success at this time or later.',
  ),
  until: described(timestamp, 'The end of the window.'),
  sent: count(
    'Deliveries that the recovery started. This number and the next two are up to a minute late, and also change after the recovery ends.',
  ),
  delivered: count('How many of them the endpoint has accepted.'),
  failed: count(
    'How many of them the endpoint has not accepted: the last attempt failed, or the delivery was canceled or skipped. The service retries failed attempts on schedule. If a retry succeeds, the delivery moves from `failed` to `delivered`. The first attempt of the other deliveries has not been made yet.',
  ),
});

/** A recovery whose webhook was disabled ended then, also before its next message notices. */
export function recoveryResource(
  recovery: RecoveryRecord,
  webhook: Pick<WebhookRecord, 'recoveryId' | 'disabledAt'>,
): v.InferOutput<typeof RecoveryResource> {
  const { id, startedAt, until, sent = 0, delivered = 0, failed = 0, progressAt } = recovery;
  const interruptedAt = isCurrent(recovery, webhook) ? undefined : Math.max(webhook.disabledAt ?? 0, progressAt);
  return {
    recovery_id: id,
    started_at: iso(startedAt),
    ended_at: isoOrNull(recovery.endedAt ?? interruptedAt),
    since: iso(windowStart(recovery)),
    until: iso(Math.min(until, startedAt)),
    sent,
    delivered,
    failed,
  };
}
