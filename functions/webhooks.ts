import { connect } from '../lib/aws/backend.ts';
import { lambda, type Runtime } from '../lib/aws/runtime.ts';
import { deliveryHandlers } from '../lib/deliveries/handlers.ts';
import { statsHandlers } from '../lib/deliveries/stats-handlers.ts';
import { serve } from '../lib/http/serve.ts';
import { addressPolicy } from '../lib/webhooks/endpoint-url.ts';
import { webhookHandlers, webhookViolations } from '../lib/webhooks/handlers.ts';

export const create = (runtime: Runtime) => {
  const backend = connect(runtime);
  const handlers = { ...webhookHandlers(backend), ...deliveryHandlers(backend), ...statsHandlers(backend) };
  return serve<'webhooks'>(handlers, backend, webhookViolations(addressPolicy(runtime.variables)));
};
export const handler = create(lambda);
