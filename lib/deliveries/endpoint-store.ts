import {
  all,
  any,
  type Condition,
  exists,
  initially,
  is,
  isAbsent,
  isAtLeast,
  isAtMost,
  isPresent,
  update,
} from '../aws/expressions.ts';
import { type Item, itemKey } from '../aws/items.ts';
import type { Table } from '../aws/table.ts';
import type { StoredEvent } from '../events/event.ts';
import { derivedFrom } from '../ids.ts';
import { newAuditRecord } from '../projects/audit.ts';
import { auditLog } from '../projects/audit-store.ts';
import type { Space } from '../space.ts';
import { toWebhook } from '../webhooks/store.ts';
import type { Attempt } from './attempt.ts';
import { isEmailOwed } from './decide.ts';
import type { Exhausted } from './deliver.ts';
import { type DeliveryMessage, runKey } from './messages.ts';
import type { Claim, EmailClaims } from './outage.ts';
import { recordAttempt } from './store.ts';

/** Stores the state of outages and overloads in the record of the webhook. */
export function outages(table: Table) {
  const keyOf = (message: DeliveryMessage) => itemKey.webhook(message, message.webhookId);
  // Any delivery of the outage can take over a claim that ran out, because a redelivery can replace the run that made it.
  const warning = emailClaims(table, { by: 'warnedBy', sentAt: 'warnedAt', until: 'warningUntil' }, () =>
    isPresent('failingSince'),
  );
  const overload = emailClaims(
    table,
    { by: 'overloadedBy', sentAt: 'overloadedAt', until: 'overloadingUntil' },
    () => exists,
  );

  return {
    /** Stores the time of a failed attempt, unless the outage already has one. */
    async beginOutage(message: DeliveryMessage, atMs: number): Promise<void> {
      const values = { failingSince: atMs, undeliveredSince: initially(atMs) };
      await table.write([update(keyOf(message), values, all(exists, isAbsent('failingSince')))]);
    },

    /** Stores a successful attempt. An outage that started later continues, and so does that of a disabled webhook. */
    async endOutage(message: DeliveryMessage, atMs: number): Promise<void> {
      const forgotten = ['failingSince', 'undeliveredSince', 'disabledAt', 'warnedBy', 'warnedAt', 'warningUntil'];
      const isOver = all(
        is('status', 'enabled'),
        isAtMost('undeliveredSince', atMs),
        any(isAbsent('failingSince'), isAtMost('failingSince', atMs)),
        any(isAbsent('disabledAt'), isAtMost('disabledAt', atMs)),
      );
      const values = Object.fromEntries(forgotten.map((name) => [name, undefined]));
      await table.write([update(keyOf(message), values, isOver)]);
    },

    /** Moves the start of an outage back, so that the default window of a recovery contains deliveries that ended since then. */
    async extendOutage(space: Space, webhookId: string, sinceMs: number): Promise<void> {
      const isLater = any(isAbsent('undeliveredSince'), isAtLeast('undeliveredSince', sinceMs));
      const values = { undeliveredSince: sinceMs };
      await table.write([update(itemKey.webhook(space, webhookId), values, all(exists, isLater))]);
    },

    /** Stores an attempt that did not wait for the rate limit. An overload whose email was sent later continues. */
    async endOverload(message: DeliveryMessage, atMs: number): Promise<void> {
      const values = { overloadedBy: undefined, overloadedAt: undefined, overloadingUntil: undefined };
      await table.write([update(keyOf(message), values, isAtMost('overloadedAt', atMs))]);
    },

    warning,
    overload,
  };
}

/** The duration of a claim. It is longer than the timeout of a function and shorter than the visibility timeout of a message. */
export const CLAIM_MS = 60_000;

/** The members of a webhook for an email: its delivery, when it was sent, and the end of the current claim. */
interface Members {
  by: string;
  sentAt: string;
  until: string;
}

/*
 * An email about a webhook, in time:
 *
 *   ── claim ──► until ── markSent ──► sentAt
 *        ▲         │
 *        └─────────┘ release, or time
 */
function emailClaims(
  table: Table,
  { by, sentAt, until }: Members,
  mayClaim: (message: DeliveryMessage) => Condition,
): EmailClaims {
  const keyOf = (message: DeliveryMessage) => itemKey.webhook(message, message.webhookId);
  const change = async (message: DeliveryMessage, values: Item): Promise<void> => {
    await table.write([update(keyOf(message), values, is(by, runKey(message)))]);
  };

  return {
    async claim(message: DeliveryMessage, nowMs: number): Promise<Claim> {
      const isFree = all(mayClaim(message), isAbsent(sentAt), any(isAbsent(until), isAtMost(until, nowMs)));
      const values = { [by]: runKey(message), [until]: nowMs + CLAIM_MS };
      const [rejected] = await table.write([update(keyOf(message), values, isFree)]);
      if (!rejected) return 'claimed';
      const { item } = rejected;
      return item?.[by] === runKey(message) && item[sentAt] === undefined ? 'busy' : 'sent';
    },
    release: (message) => change(message, { [until]: undefined }),
    markSent: (message, nowMs) => change(message, { [sentAt]: nowMs, [until]: undefined }),
  };
}

/** Disables a webhook after the last attempt of a delivery has failed. */
export function disabling(table: Table) {
  const email = emailClaims(table, { by: 'disabledBy', sentAt: 'emailedAt', until: 'emailingUntil' }, (message) =>
    is('disabledBy', runKey(message)),
  );

  return {
    /**
     * Records the attempt that exhausts the schedule and, if the webhook is still enabled, disables it in the same transaction,
     * with an audit entry. Only one of several concurrent deliveries disables it.
     */
    async exhaust(message: DeliveryMessage, event: StoredEvent, attempt: Attempt, nowMs: number): Promise<Exhausted> {
      const recorded = recordAttempt(message, event, attempt, { status: 'failed' });
      const disabled = {
        status: 'disabled',
        disabledAt: nowMs,
        updatedAt: nowMs,
        disabledReason: 'deliveries_failed',
        disabledBy: runKey(message),
        emailedAt: undefined,
        emailingUntil: undefined,
        failingSince: initially(attempt.at),
        undeliveredSince: initially(attempt.at),
      };
      const key = itemKey.webhook(message, message.webhookId);
      const entry = auditLog(table).entry(auditOf(message, nowMs));
      const rejected = await table.write([recorded, update(key, disabled, is('status', 'enabled')), entry]);
      if (rejected.length === 0) return { isRecorded: true, isEmailPending: true };
      // Another delivery disabled the webhook, or it was deleted. The attempt is then recorded alone.
      const isOpen = !rejected.some(({ index }) => index === 0);
      const isRecorded = isOpen && (await table.write([recorded])).length === 0;
      // Another run of this message can have ended before the email.
      const webhook = rejected.find(({ index }) => index === 1)?.item;
      return { isRecorded, isEmailPending: webhook !== undefined && isEmailOwed(message, toWebhook(webhook)) };
    },

    email,
  };
}

/** A repetition has the same id, so it does not add a second entry. */
function auditOf(message: DeliveryMessage, at: number) {
  const { projectId, webhookId, environment, eventId } = message;
  const detail = { environment, event_id: eventId };
  const random = derivedFrom(`${webhookId} ${runKey(message)}`);
  return newAuditRecord({ projectId, at, action: 'webhook.disabled', target: webhookId, detail }, random);
}
