import { type Routes, WRITERS } from '../http/route.ts';

const events = { function: 'events', callers: WRITERS, permissions: [] } as const;

export const eventRoutes = {
  publishEvent: { ...events, method: 'POST', path: '/v1/events' },
  publishEvents: { ...events, method: 'POST', path: '/v1/events/batch' },
  listEvents: { ...events, method: 'GET', path: '/v1/events' },
  getEvent: { ...events, method: 'GET', path: '/v1/events/{id}' },
} as const satisfies Routes;

export const eventTypeRoutes = {
  listEventTypes: { function: 'dashboard', callers: 'anyone', permissions: [], method: 'GET', path: '/v1/event-types' },
} as const satisfies Routes;
