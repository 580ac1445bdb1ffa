// The browser imports this too: it must stay light.

/** The highest rate limit of a webhook, and the highest pace of a recovery. */
export const MAX_PER_SECOND = 500;
