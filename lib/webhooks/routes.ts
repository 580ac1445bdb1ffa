// The browser imports this file too, so it must stay small.

import { EDITORS, type Routes, VIEWERS } from '../http/route.ts';

const reads = { function: 'webhooks', callers: VIEWERS, permissions: [] } as const;
const changes = { function: 'webhooks', callers: EDITORS, permissions: [] } as const;

export const webhookRoutes = {
  createWebhook: { ...changes, method: 'POST', path: '/v1/webhooks' },
  listWebhooks: { ...reads, method: 'GET', path: '/v1/webhooks' },
  getWebhook: { ...reads, method: 'GET', path: '/v1/webhooks/{id}' },
  changeWebhook: { ...changes, method: 'PATCH', path: '/v1/webhooks/{id}' },
  deleteWebhook: { ...changes, method: 'DELETE', path: '/v1/webhooks/{id}' },
  rotateSecret: { ...changes, method: 'POST', path: '/v1/webhooks/{id}/rotate-secret' },
  testWebhook: { ...changes, method: 'POST', path: '/v1/webhooks/{id}/test' },
} as const satisfies Routes;
