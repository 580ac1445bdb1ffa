import { entry } from '../lib/aws/backend.ts';
import { deliveryHandlers } from '../lib/deliveries/handlers.ts';
import { deliveryOperations, eventDeliveryOperations } from '../lib/deliveries/operations.ts';
import { stats } from '../lib/deliveries/stats-store.ts';
import { serve } from '../lib/http/serve.ts';
import { addressPolicy } from '../lib/webhooks/endpoint-url.ts';
import { webhookHandlers, webhookViolations } from '../lib/webhooks/handlers.ts';
import { webhookOperations } from '../lib/webhooks/operations.ts';

export const { create, handler } = entry((backend) =>
  serve(
    { ...webhookOperations, ...deliveryOperations, ...eventDeliveryOperations },
    { ...webhookHandlers(backend, stats(backend.table).backlogOf), ...deliveryHandlers(backend) },
    backend,
    webhookViolations(addressPolicy(backend.variables)),
  ),
);
