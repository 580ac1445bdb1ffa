// The browser imports this file too, so it must stay small.

/** The highest rate limit of a webhook, and the highest pace of a recovery. */
export const MAX_PER_SECOND = 500;
