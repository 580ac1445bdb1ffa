import type { ProjectEmails } from '../emails/send.ts';
import type { Attempt } from './attempt.ts';
import type { Found, Remaining, Verdict } from './decide.ts';
import type { Endpoints } from './endpoint-store.ts';
import type { HttpPost } from './http-post.ts';
import type { Retry, SendToLane } from './lane-queues.ts';
import type { Lane } from './lanes.ts';
import type { TakeSlot } from './rate-limit-store.ts';
import type { Stats } from './stats-store.ts';
import type { Deliveries } from './store.ts';

/*
 * The stages of a message. deliver.ts has a function for each of them:
 *
 *   message ── taskOf ──► Found ── admit ── post ──► Made ── record ──► Recorded ── finish ──► DeliverResult
 *                           └───────── the attempt is recorded already ────────────┘
 *
 * After a crash or an internal failure, the message is received again, and `taskOf` finds in the stored data where it continues.
 */

/** The endpoint may have received the attempt, and nothing is stored of it. After a crash, the same attempt is made again. */
export interface Made extends Found {
  attempt: Attempt;
  verdict: Verdict;
  /** The time for which the function waited for the endpoint (wait-meter.ts). */
  waitedMs: number;
}

/** The attempt is stored with what remains. After a crash, it is not made again, and the next function does what remains. */
export interface Recorded extends Made {
  /** Two functions can make the same attempt. One of them records it, and only that one counts it. */
  by: 'us' | 'another';
  /** Whether this function disabled the webhook. */
  disabled: boolean;
  /** `drop`: nothing. `wait`: another function recorded the attempt and is doing what remains, or has failed. */
  remaining: Remaining | { task: 'drop' | 'wait' };
}

/**
 * Why a message made no attempt. `delay`: the rate limit of the webhook allows it later. `overload`: so late that the delivery was
 * skipped. The others are its tasks (`taskOf`).
 */
export type Reason = 'drop' | 'cancel' | 'skip' | 'defer' | 'delay' | 'overload' | Remaining['task'];

/**
 * How the handling of a message ended. After `again`, the message must be received again, because another function is doing what
 * remains and can fail. Otherwise it is acknowledged. `recorded` is absent if this function made no attempt.
 */
export type DeliverResult =
  | { kind: 'notAttempted'; reason: Reason }
  | { kind: 'attempted'; recorded: Recorded }
  | { kind: 'again'; recorded?: Recorded };

/** Everything that the emails about webhooks can use. */
export interface Notifying {
  readonly clock: () => number;
  readonly endpoints: Pick<Endpoints, 'claimEmail' | 'releaseEmail' | 'markEmailed'>;
  /** Counts what an endpoint has not received. */
  readonly backlogOf: Stats['backlogOf'];
  readonly emails: Pick<ProjectEmails, 'reserve' | 'dashboardUrl'> & {
    projects: Pick<ProjectEmails['projects'], 'get'>;
  };
}

/** Everything that the handling of a message can use. */
export interface Delivering extends Notifying {
  /** The lane of the function. */
  readonly lane: Lane;
  /** Takes a token of the rate limit of a webhook, or books a slot. A repetition takes another one. */
  readonly takeSlot: TakeSlot;
  /** Sends a request. Everything that an endpoint does is an outcome, and only internal failures throw. */
  readonly post: HttpPost;
  /** Changes the record of a delivery, which only ever moves on. A repetition has no effect, and `record` then returns `false`. */
  readonly deliveries: Pick<Deliveries, 'record' | 'markRetried' | 'endRun'>;
  /** Changes the record of a webhook. A repetition has no effect. `recordLastFailure` also records the attempt. */
  readonly endpoints: Notifying['endpoints'] & Pick<Endpoints, 'recordLastFailure' | 'beginOutage'>;
  readonly notes: Notes;
  /** Sends messages to the queue of a lane, each at least once. */
  readonly send: SendToLane;
  /** Queues an attempt for the time when it is due, at least once. */
  readonly retry: Retry;
}

/**
 * Notes about an endpoint that no attempt depends on. A failure is logged, and a later attempt makes the note again. `suspect` then
 * returns `true`.
 */
export type Notes = Pick<Endpoints, 'suspect' | 'setPace' | 'endOutage' | 'endOverload'>;
