import { auditEntry } from '../audit/store.ts';
import type { Rejected } from '../aws/domain-errors.ts';
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
import type { Space } from '../space.ts';
import { EMAIL_MEMBERS, type WebhookState, withoutEmail } from '../webhooks/email-state.ts';
import { toWebhook } from '../webhooks/store.ts';
import type { Attempt } from './attempt.ts';
import { isEmailPending } from './decide.ts';
import type { Pace } from './lanes.ts';
import { type RunId, runKey } from './record.ts';
import { recordAttempt } from './store.ts';

/** Names a webhook. */
interface WebhookId extends Space {
  id: string;
}

/** Whether this function must send an email. `busy` means that another one is sending it for the same run and can still fail. */
export type Claim = 'claimed' | 'busy' | 'sent';

/** The duration of a claim. It is longer than the timeout of a function and shorter than the visibility timeout of a message. */
export const CLAIM_MS = 60_000;

/** Whether a run may claim an email that nobody has sent or is sending. */
const MAY_CLAIM: Readonly<Record<WebhookState, (run: string) => Condition>> = {
  disabled: (run) => is('disabledBy', run),
  // Any delivery of the outage can take over a claim that ran out, because a redelivery can replace the run that made it.
  failing: () => isPresent('failingSince'),
  overloaded: () => exists,
};

export type Endpoints = ReturnType<typeof endpoints>;

/** Stores the state of endpoints in the records of their webhooks: pace, outage, overload, and the emails about them. */
export function endpoints(table: Table) {
  const change = async (webhook: WebhookId, values: Item, condition: Condition): Promise<Rejected | undefined> => {
    const [rejected] = await table.write([update(itemKey.webhook(webhook, webhook.id), values, condition)]);
    return rejected;
  };

  return {
    /** Sends the next messages of an endpoint to the slow lane until a time. `false`: another attempt did so before. */
    async suspect(webhook: WebhookId, slowUntil: number, nowMs: number): Promise<boolean> {
      const isNotSlow = any(isAbsent('slowUntil'), isAtMost('slowUntil', nowMs));
      return (await change(webhook, { slowUntil }, all(exists, isNotSlow))) === undefined;
    },

    /** Stores the pace of an endpoint, which determines its lane. */
    async setPace(webhook: WebhookId, { quickSince, slowUntil }: Pace): Promise<void> {
      await change(webhook, { quickSince, slowUntil }, exists);
    },

    /** Stores the time of a failed attempt, unless the outage already has one. */
    async beginOutage(webhook: WebhookId, atMs: number): Promise<void> {
      const values = { failingSince: atMs, undeliveredSince: initially(atMs) };
      await change(webhook, values, all(exists, isAbsent('failingSince')));
    },

    /** Stores a successful attempt. An outage that started later continues, and so does that of a disabled webhook. */
    async endOutage(webhook: WebhookId, atMs: number): Promise<void> {
      const ended = { failingSince: undefined, undeliveredSince: undefined, disabledAt: undefined };
      const isOver = all(
        is('status', 'enabled'),
        any(isAbsent('failingSince'), isAtMost('failingSince', atMs)),
        any(isAbsent('disabledAt'), isAtMost('disabledAt', atMs)),
      );
      await change(webhook, { ...ended, ...withoutEmail('failing') }, isOver);
    },

    /** Moves the start of an outage back, so that the default window of a recovery contains deliveries that ended since then. */
    async extendOutage(webhook: WebhookId, sinceMs: number): Promise<void> {
      const isLater = any(isAbsent('undeliveredSince'), isAtLeast('undeliveredSince', sinceMs));
      await change(webhook, { undeliveredSince: sinceMs }, all(exists, isLater));
    },

    /** Stores an attempt that did not wait for the rate limit. An overload whose email was sent later continues. */
    async endOverload(webhook: WebhookId, atMs: number): Promise<void> {
      await change(webhook, { ...withoutEmail('overloaded') }, isAtMost('overloadedAt', atMs));
    },

    /**
     * Records the attempt that exhausts the schedule and, if the webhook is still enabled, disables it in the same transaction,
     * with an audit entry. Only one of several concurrent deliveries disables it. `isRecorded` is false if another function has
     * recorded this attempt, or a newer run has begun. `isEmailPending`: this run disabled the webhook, in this or another
     * function, and the email about it may not be sent.
     */
    async recordLastFailure(
      webhook: WebhookId,
      run: RunId,
      event: StoredEvent,
      attempt: Attempt,
      nowMs: number,
    ): Promise<Record<'isRecorded' | 'isEmailPending', boolean>> {
      const recorded = recordAttempt(run, event, attempt, { status: 'failed' });
      const disabled = {
        status: 'disabled',
        disabledAt: nowMs,
        updatedAt: nowMs,
        disabledReason: 'deliveries_failed',
        disabledBy: runKey(run),
        recoveryId: undefined,
        failingSince: initially(attempt.at),
        undeliveredSince: initially(attempt.at),
      };
      const key = itemKey.webhook(webhook, webhook.id);
      const entry = auditOf(webhook, run, nowMs);
      const rejected = await table.write([recorded, update(key, disabled, is('status', 'enabled')), entry]);
      if (rejected.length === 0) return { isRecorded: true, isEmailPending: true };
      // Another delivery disabled the webhook, or it was deleted: the attempt is recorded alone. An attempt that was recorded before
      // is rejected again.
      const isRecorded = (await table.write([recorded])).length === 0;
      // Another function can have stopped before the email of this run.
      const stored = rejected.find(({ index }) => index === 1)?.item;
      return { isRecorded, isEmailPending: stored !== undefined && isEmailPending(run, toWebhook(stored)) };
    },

    /*
     * An email about a webhook, in time:
     *
     *   ── claimEmail ──► until ── markEmailed ──► sentAt
     *        ▲              │
     *        └──────────────┘ releaseEmail, or time
     */
    async claimEmail(what: WebhookState, webhook: WebhookId, run: RunId, nowMs: number): Promise<Claim> {
      const { by, sentAt, until } = EMAIL_MEMBERS[what];
      const claimant = runKey(run);
      const isFree = all(MAY_CLAIM[what](claimant), isAbsent(sentAt), any(isAbsent(until), isAtMost(until, nowMs)));
      const rejected = await change(webhook, { [by]: claimant, [until]: nowMs + CLAIM_MS }, isFree);
      if (!rejected) return 'claimed';
      const { item } = rejected;
      return item?.[by] === claimant && item[sentAt] === undefined ? 'busy' : 'sent';
    },

    async releaseEmail(what: WebhookState, webhook: WebhookId, run: RunId): Promise<void> {
      const { by, until } = EMAIL_MEMBERS[what];
      await change(webhook, { [until]: undefined }, is(by, runKey(run)));
    },

    async markEmailed(what: WebhookState, webhook: WebhookId, run: RunId, nowMs: number): Promise<void> {
      const { by, sentAt, until } = EMAIL_MEMBERS[what];
      await change(webhook, { [sentAt]: nowMs, [until]: undefined }, is(by, runKey(run)));
    },
  };
}

/** A repetition has the same id, so it does not add a second entry. */
function auditOf({ projectId, environment, id: target }: WebhookId, run: RunId, at: number) {
  const detail = { environment, event_id: run.eventId };
  const random = derivedFrom(`${target} ${runKey(run)}`);
  return auditEntry({ projectId, at, action: 'webhook.disabled', target, detail }, random);
}
