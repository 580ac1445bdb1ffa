import { connect } from '../lib/aws/backend.ts';
import { lambda, type Runtime } from '../lib/aws/runtime.ts';
import { deliveryHandlers } from '../lib/deliveries/handlers.ts';
import { deliveryLog } from '../lib/deliveries/log-store.ts';
import { deliveryQueue } from '../lib/deliveries/queue-store.ts';
import { statsHandlers } from '../lib/deliveries/stats-handlers.ts';
import { stats } from '../lib/deliveries/stats-store.ts';
import { eventStore } from '../lib/events/store.ts';
import { cursorsOf } from '../lib/http/cursor-store.ts';
import { serve } from '../lib/http/serve.ts';
import type { Space } from '../lib/space.ts';
import { addressPolicy } from '../lib/webhooks/endpoint-url.ts';
import { webhookHandlers, webhookViolations } from '../lib/webhooks/handlers.ts';
import { allWebhooks, webhooks } from '../lib/webhooks/store.ts';

export const create = (runtime: Runtime) => {
  const backend = connect(runtime);
  const { table, random } = backend;
  const deps = {
    ...backend,
    webhooks: webhooks(table),
    events: eventStore(table),
    cursors: cursorsOf(table, random),
    allWebhooks: (space: Space) => allWebhooks(table, space),
    deliveries: deliveryLog(table),
    stats: stats(table),
    enqueue: deliveryQueue(runtime, 'quick').sendAll, // redeliveries, recoveries and tests
  };
  const handlers = { ...webhookHandlers(backend), ...deliveryHandlers(deps), ...statsHandlers(deps) };
  return serve<'webhooks'>(handlers, backend, webhookViolations(addressPolicy(runtime.variables)));
};
export const handler = create(lambda);
