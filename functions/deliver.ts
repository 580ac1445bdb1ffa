import { connect } from '../lib/aws/backend.ts';
import { httpPost } from '../lib/aws/http-post.ts';
import { lambda, type Runtime, variable } from '../lib/aws/runtime.ts';
import { schedules } from '../lib/aws/schedules.ts';
import { deliverConsumer, resultReporter } from '../lib/deliveries/consumers.ts';
import type { Lane } from '../lib/deliveries/lanes.ts';
import { laneQueues } from '../lib/deliveries/queue-store.ts';
import { addressPolicy } from '../lib/webhooks/endpoint-url.ts';
import { deliverDeps, withEmail } from './wiring.ts';

/** `poster` creates the function that sends the requests of attempts. */
export const create = (runtime: Runtime, poster: typeof httpPost = httpPost) => {
  const backend = connect(runtime);
  const { sendAt } = schedules(runtime);
  const deps = deliverDeps({
    ...backend,
    ...withEmail(runtime),
    queues: laneQueues(runtime),
    lane: variable(runtime, 'LANE') as Lane,
    dashboardUrl: variable(runtime, 'DASHBOARD_URL'),
    post: poster(addressPolicy(runtime.variables)),
    schedule: (name, message, atMs) => sendAt(atMs, name, message),
    done: resultReporter(backend),
  });
  return deliverConsumer(deps, backend);
};
export const handler = create(lambda);
