import { bucketOf } from '../ids.ts';

/**
 * Shares of the API's requests. A project always has the same one, and with it the rate that API Gateway lets through (API
 * Gateway Developer Guide, "Usage plans and API keys"): whoever asks for more holds up one in so many of the others.
 */
export const SHARES = 32;

/** What API Gateway knows a share by: an API key of its own. It opens nothing. */
export const shareKey = (prefix: string, share: number): string => `${prefix}${String(share).padStart(2, '0')}`;

export const shareKeyOf = (prefix: string, projectId: string): string => shareKey(prefix, bucketOf(projectId, SHARES));
