// The browser imports this file too, so it must stay small.

import { EDITORS, type Routes, VIEWERS } from '../http/route.ts';

const reads = { function: 'webhooks', callers: VIEWERS, permissions: [] } as const;
const changes = { function: 'webhooks', callers: EDITORS, permissions: [] } as const;

export const deliveryRoutes = {
  listDeliveries: { ...reads, method: 'GET', path: '/v1/webhooks/{id}/deliveries' },
  getDelivery: { ...reads, method: 'GET', path: '/v1/webhooks/{id}/deliveries/{event_id}' },
  redeliver: { ...changes, method: 'POST', path: '/v1/webhooks/{id}/deliveries/{event_id}/redeliver' },
  getStats: { ...reads, method: 'GET', path: '/v1/stats' },
} as const satisfies Routes;

export const recoveryRoutes = {
  getRecovery: { ...reads, method: 'GET', path: '/v1/webhooks/{id}/recover' },
  recover: { ...changes, method: 'POST', path: '/v1/webhooks/{id}/recover' },
  stopRecovery: { ...changes, method: 'DELETE', path: '/v1/webhooks/{id}/recover' },
} as const satisfies Routes;

export const eventDeliveryRoutes = {
  listEventDeliveries: { ...reads, method: 'GET', path: '/v1/events/{id}/deliveries' },
} as const satisfies Routes;
