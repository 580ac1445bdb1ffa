import { entry } from '../lib/aws/backend.ts';
import { deliveryHandlers } from '../lib/deliveries/handlers.ts';
import { serve } from '../lib/http/serve.ts';
import { addressPolicy } from '../lib/webhooks/endpoint-url.ts';
import { webhookHandlers, webhookViolations } from '../lib/webhooks/handlers.ts';

export const { create, handler } = entry((backend) =>
  serve<'webhooks'>(
    { ...webhookHandlers(backend), ...deliveryHandlers(backend) },
    backend,
    webhookViolations(addressPolicy(backend.variables)),
  ),
);
