import type { Attempt, DeliveryMessage, Verdict } from '../../delivery/record.ts';
import type { DeliveryStatus } from '../../delivery/schedule.ts';
import { EVENT_RETENTION_MS, type StoredEvent } from '../../events/events.ts';
import { earliestId } from '../../ids.ts';
import { itemKey, setting, timeToLive, type Write } from './table.ts';

export interface ListOptions {
  /** Of events at this time or later, and before `until`. */
  since?: number | undefined;
  until?: number | undefined;
  statuses?: readonly DeliveryStatus[] | undefined;
  /** With `statuses`: those too whose next attempt was due before. */
  stuckBefore?: number | undefined;
  limit: number;
  after?: string | undefined;
}

/** The query of a webhook's delivery log, newest first; `null` if the window is empty. */
export function logQuery(
  webhookId: string,
  { since = 0, until, statuses, stuckBefore, after }: Omit<ListOptions, 'limit'>,
) {
  const first = earliestId('evt', since);
  const last = until === undefined ? 'evt_~' : earliestId('evt', until);
  if (first > last) return null; // DynamoDB refuses a range from its end to its beginning
  const names = statuses?.map((_, i) => `:status${i}`).join(', ');
  const isStuck = '#status = :retrying AND nextAttemptAt < :stuckBefore';
  return {
    KeyConditionExpression: 'pk = :pk AND sk BETWEEN :first AND :last',
    ExpressionAttributeValues: {
      ':pk': itemKey.delivery(webhookId, '').pk,
      ':first': first,
      ':last': last,
      ...Object.fromEntries((statuses ?? []).map((value, i) => [`:status${i}`, value])),
      ...(stuckBefore !== undefined && { ':stuckBefore': stuckBefore, ':retrying': 'retrying' }),
    },
    ...(names && {
      FilterExpression: `#status IN (${names})${stuckBefore === undefined ? '' : ` OR (${isStuck})`}`,
      ExpressionAttributeNames: { '#status': 'status' },
    }),
    ScanIndexForward: false,
    after: after === undefined ? undefined : itemKey.delivery(webhookId, after),
  };
}

/** The write that records an attempt and what follows from it. */
export function recordAttempt(message: DeliveryMessage, event: StoredEvent, attempt: Attempt, verdict: Verdict): Write {
  const nextAttemptAt = verdict.status === 'retrying' ? verdict.dueAt : undefined;
  const retryPending = verdict.status === 'retrying' ? true : undefined;
  return upsert(
    message,
    event,
    { status: verdict.status, createdAt: attempt.at, nextAttemptAt, attempt: message.attempt, retryPending },
    [attempt],
  );
}

interface Change {
  status: DeliveryStatus;
  createdAt: number;
  nextAttemptAt: number | undefined;
  attempt: number;
  retryPending?: boolean | undefined;
}

/** Idempotent: a round moves forward only, and a later round wins over an earlier one. */
export function upsert(
  message: DeliveryMessage,
  event: StoredEvent,
  { createdAt, ...change }: Change,
  attempts: Attempt[] = [],
): Write {
  const update = setting({
    ...change,
    webhookId: message.webhookId,
    eventId: message.eventId,
    eventType: event.type,
    round: message.round,
    expires: timeToLive(createdAt + EVENT_RETENTION_MS),
  });
  const newer = attempts.length > 0 ? '#attempt < :attempt' : '#attempt <= :attempt';
  return {
    Update: {
      Key: itemKey.delivery(message.webhookId, message.eventId),
      UpdateExpression: update.UpdateExpression.replace(
        'SET ',
        'SET #createdAt = if_not_exists(#createdAt, :createdAt), #attempts = list_append(if_not_exists(#attempts, :none), :new), ',
      ),
      ExpressionAttributeNames: {
        ...update.ExpressionAttributeNames,
        '#createdAt': 'createdAt',
        '#attempts': 'attempts',
      },
      ExpressionAttributeValues: {
        ...update.ExpressionAttributeValues,
        ':createdAt': createdAt,
        ':none': [],
        ':new': attempts,
        ':retrying': 'retrying',
      },
      ConditionExpression: `attribute_not_exists(pk) OR #round < :round OR (#round = :round AND #status = :retrying AND ${newer})`,
    },
  };
}
