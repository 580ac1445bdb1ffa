import { type Routes, WRITERS } from '../http/route.ts';

const webhooks = { function: 'webhooks', callers: WRITERS, permissions: [] } as const;

export const deliveryRoutes = {
  listDeliveries: { ...webhooks, method: 'GET', path: '/v1/webhooks/{id}/deliveries' },
  getDelivery: { ...webhooks, method: 'GET', path: '/v1/webhooks/{id}/deliveries/{event_id}' },
  redeliver: { ...webhooks, method: 'POST', path: '/v1/webhooks/{id}/deliveries/{event_id}/redeliver' },
  getStats: { ...webhooks, method: 'GET', path: '/v1/stats' },
} as const satisfies Routes;

export const recoveryRoutes = {
  getRecovery: { ...webhooks, method: 'GET', path: '/v1/webhooks/{id}/recover' },
  recover: { ...webhooks, method: 'POST', path: '/v1/webhooks/{id}/recover' },
  stopRecovery: { ...webhooks, method: 'DELETE', path: '/v1/webhooks/{id}/recover' },
} as const satisfies Routes;

export const eventDeliveryRoutes = {
  listEventDeliveries: { ...webhooks, method: 'GET', path: '/v1/events/{id}/deliveries' },
} as const satisfies Routes;
