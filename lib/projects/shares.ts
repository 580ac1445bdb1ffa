import { bucketOf } from '../ids.ts';

/**
 * Shares of the API's request rate. A project always has the same share, and API Gateway limits the rate of each share (API
 * Gateway Developer Guide, "Usage plans and API keys"). A project over its rate delays only the projects of its share.
 */
export const SHARES = 32;

/** The usage-plan key of a share. It grants no access. */
export const shareKey = (prefix: string, share: number): string => `${prefix}${String(share).padStart(2, '0')}`;

export const shareKeyOf = (prefix: string, projectId: string): string => shareKey(prefix, bucketOf(projectId, SHARES));
