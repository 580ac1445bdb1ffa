// The browser imports this file too, so it must stay small.

import { deliveryRoutes, eventDeliveryRoutes, recoveryRoutes } from '../deliveries/routes.ts';
import { documentRoutes } from '../documents/routes.ts';
import { eventRoutes, eventTypeRoutes } from '../events/routes.ts';
import { byRoute, type Route } from '../http/route.ts';
import { keyRoutes, linkRoutes, tokenRoutes } from '../keys/routes.ts';
import { projectRoutes } from '../projects/routes.ts';
import { webhookRoutes } from '../webhooks/routes.ts';

/** Finds the route of every operation for programs. */
export const routeAt = byRoute<Route>({
  ...keyRoutes,
  ...tokenRoutes,
  ...linkRoutes,
  ...projectRoutes,
  ...webhookRoutes,
  ...deliveryRoutes,
  ...recoveryRoutes,
  ...eventDeliveryRoutes,
  ...eventRoutes,
  ...eventTypeRoutes,
  ...documentRoutes,
});
