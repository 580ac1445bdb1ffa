import { type Routes, WRITERS } from '../http/route.ts';

const webhooks = { function: 'webhooks', callers: WRITERS, permissions: [] } as const;

export const webhookRoutes = {
  createWebhook: { ...webhooks, method: 'POST', path: '/v1/webhooks' },
  listWebhooks: { ...webhooks, method: 'GET', path: '/v1/webhooks' },
  getWebhook: { ...webhooks, method: 'GET', path: '/v1/webhooks/{id}' },
  changeWebhook: { ...webhooks, method: 'PATCH', path: '/v1/webhooks/{id}' },
  deleteWebhook: { ...webhooks, method: 'DELETE', path: '/v1/webhooks/{id}' },
  rotateSecret: { ...webhooks, method: 'POST', path: '/v1/webhooks/{id}/rotate-secret' },
  testWebhook: { ...webhooks, method: 'POST', path: '/v1/webhooks/{id}/test' },
} as const satisfies Routes;
