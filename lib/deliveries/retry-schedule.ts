// The browser imports this file too, so it must stay small.

/** Seconds from a failure to the next attempt (interface §6.4): after the 1st, 2nd, … 5th. */
export const RETRY_DELAYS_SECONDS = [60, 300, 1800, 7200, 43200] as const;
export const MAX_ATTEMPTS = RETRY_DELAYS_SECONDS.length + 1;
