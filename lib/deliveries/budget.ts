/*
 * The budget of deliveries of a project: events times subscribed webhooks, on average over a minute. A limit of requests does not
 * bound this work, because one request can publish 100 events to 100 webhooks. The fan-out counts deliveries when it has queued
 * them, and requests that publish return 429 while the budget is used up. A project can therefore exceed it by the deliveries of
 * the requests within about a second, and then waits until the average is correct again.
 *
 * The state is one time, as for the rate limit of a webhook (rate-limit.ts): each delivery advances it by an interval, from the
 * present at the earliest.
 */

/** How far in the future the state can be while requests are accepted. After a pause, a minute can have twice the budget. */
export const BUDGET_WINDOW_MS = 60_000;

/** A state that is further in the future is not advanced. So errors of the count block no project for much longer. */
export const MAX_USED_MS = 60 * 60 * 1000;

/** The time by which some deliveries advance the state. */
export const intervalOf = (deliveries: number, perSecond: number): number => (deliveries * 1000) / perSecond;

/**
 * Whether deliveries are worth a write. Each execution environment of the fan-out ignores fewer in a minute, so a project far
 * below its budget costs nothing, and a few environments miss about one percent of it.
 */
export const isSignificant = (deliveries: number, perSecond: number): boolean => 10 * deliveries >= perSecond;

/** The seconds until requests that publish are accepted, or 0. */
export function secondsOverBudget(usedUntil: number | undefined, nowMs: number): number {
  return Math.max(0, Math.ceil(((usedUntil ?? 0) - BUDGET_WINDOW_MS - nowMs) / 1000));
}
