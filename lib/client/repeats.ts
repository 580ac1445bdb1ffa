// The browser imports this file too, so it must stay small.

/** The operations that take effect once for each `Idempotency-Key`. */
const WITH_KEY: Readonly<Record<string, readonly string[]>> = {
  POST: [
    '/v1/keys',
    '/v1/keys/{key}/rotate',
    '/v1/tokens',
    '/v1/dashboard-links',
    '/v1/webhooks',
    '/v1/webhooks/{id}/rotate-secret',
    '/v1/webhooks/{id}/test',
    '/v1/webhooks/{id}/deliveries/{event_id}/redeliver',
    '/v1/webhooks/{id}/recover',
    '/v1/events',
    '/v1/events/batch',
  ],
  PUT: ['/v1/documents/{key}'],
  PATCH: ['/v1/documents/{key}'],
  DELETE: ['/v1/documents/{key}'],
};

/** Whether an operation accepts an `Idempotency-Key`. `path` is that of the API reference, such as `/v1/documents/{key}`. */
export const takesKey = (method: string, path: string): boolean => WITH_KEY[method]?.includes(path) ?? false;

/**
 * Whether a request that may have taken effect can be sent again. The repetition of any other change would be a new change, which
 * could undo a later one. `body` is that of a sync.
 */
export function isRepeatable(method: string, path: string, body: unknown): boolean {
  if (method === 'GET' || method === 'HEAD' || path === '/v1/tokens/verify' || takesKey(method, path)) return true;
  if (path !== '/v1/sync') return false;
  const { sync_id, cursor, push } = body as { sync_id?: string | null; cursor?: string | null; push?: unknown[] };
  return Boolean(sync_id) || Boolean(cursor) || push?.length === 0;
}
