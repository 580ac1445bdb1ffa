import { connect } from '../lib/aws/backend.ts';
import { httpPost } from '../lib/aws/http-post.ts';
import { lambda, type Runtime, variable } from '../lib/aws/runtime.ts';
import { deliverConsumer } from '../lib/deliveries/consumers.ts';
import type { Lane } from '../lib/deliveries/lanes.ts';
import { forwarding } from '../lib/deliveries/queue-store.ts';
import { addressPolicy } from '../lib/webhooks/endpoint-url.ts';
import { emailing } from './wiring.ts';

/** `poster` creates the function that sends the requests of attempts. */
export const create = (runtime: Runtime, poster: typeof httpPost = httpPost) => {
  const backend = connect(runtime);
  const lane = variable(runtime, 'LANE') as Lane;
  const dashboardUrl = variable(runtime, 'DASHBOARD_URL');
  const deps = {
    lane,
    post: poster(addressPolicy(runtime.variables)),
    queues: forwarding(runtime, lane),
    emailing: { ...emailing(runtime, backend), dashboardUrl },
  };
  return deliverConsumer(deps, backend);
};
export const handler = create(lambda);
