import { connect } from '../lib/aws/backend.ts';
import { lambda, type Runtime } from '../lib/aws/runtime.ts';
import { deliveryQueue } from '../lib/deliveries/queue-store.ts';
import { serve } from '../lib/http/serve.ts';
import { addressPolicy } from '../lib/webhooks/endpoint-url.ts';
import { webhookViolations } from '../lib/webhooks/handlers.ts';
import { webhookOperations } from './wiring.ts';

export const create = (runtime: Runtime) => {
  const backend = { ...connect(runtime), queue: deliveryQueue(runtime, 'quick') }; // redeliveries, recoveries and tests
  const violations = webhookViolations(addressPolicy(runtime.variables));
  return serve<'webhooks'>(webhookOperations(backend), backend, violations);
};
export const handler = create(lambda);
