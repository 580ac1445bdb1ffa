// The browser imports this file too, so it must stay small.

import { type Routes, VIEWERS, WRITERS } from '../http/route.ts';

const reads = { function: 'events', callers: VIEWERS, permissions: [] } as const;
const publishes = { function: 'events', callers: WRITERS, permissions: [] } as const;

export const eventRoutes = {
  publishEvent: { ...publishes, method: 'POST', path: '/v1/events' },
  publishEvents: { ...publishes, method: 'POST', path: '/v1/events/batch' },
  listEvents: { ...reads, method: 'GET', path: '/v1/events' },
  getEvent: { ...reads, method: 'GET', path: '/v1/events/{id}' },
} as const satisfies Routes;

export const eventTypeRoutes = {
  listEventTypes: { function: 'dashboard', callers: 'anyone', permissions: [], method: 'GET', path: '/v1/event-types' },
} as const satisfies Routes;
