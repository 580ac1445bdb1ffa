import { connect } from '../lib/aws/backend.ts';
import { httpPost } from '../lib/aws/http-post.ts';
import { lambda, type Runtime, variable } from '../lib/aws/runtime.ts';
import { schedules } from '../lib/aws/schedules.ts';
import type { BatchDeps } from '../lib/deliveries/batch.ts';
import { deliverConsumer, resultReporter } from '../lib/deliveries/consumers.ts';
import { disabling, outages } from '../lib/deliveries/endpoint-store.ts';
import type { Lane } from '../lib/deliveries/lanes.ts';
import { deliveryLog } from '../lib/deliveries/log-store.ts';
import { groupOf } from '../lib/deliveries/messages.ts';
import { retryBy } from '../lib/deliveries/queue-retry.ts';
import { laneQueues } from '../lib/deliveries/queue-store.ts';
import { rateLimits } from '../lib/deliveries/rate-limit-store.ts';
import { recoverPage } from '../lib/deliveries/recovery.ts';
import { deliveries } from '../lib/deliveries/store.ts';
import { webhookEmails } from '../lib/deliveries/webhook-emails.ts';
import { addressPolicy } from '../lib/webhooks/endpoint-url.ts';
import { emailing } from './wiring.ts';

/** `poster` creates the function that sends the requests of attempts. */
export const create = (runtime: Runtime, poster: typeof httpPost = httpPost) => {
  const backend = connect(runtime);
  const { table, clock, log } = backend;
  const queues = laneQueues(runtime);
  const lane = variable(runtime, 'LANE') as Lane;
  const { sendAt } = schedules(runtime);
  const { email: disabledClaims, exhaust } = disabling(table);
  const { warning: warningClaims, overload: overloadClaims, extendOutage, ...notes } = outages(table);
  const recovery = { ...deliveryLog(table), ...deliveries(table), extendOutage };
  const dashboardUrl = variable(runtime, 'DASHBOARD_URL');
  const send = webhookEmails({ ...backend, ...emailing(runtime, backend), dashboardUrl });
  const deps: BatchDeps = {
    lane,
    clock,
    post: poster(addressPolicy(runtime.variables)),
    done: resultReporter(backend),
    ...deliveries(table),
    ...rateLimits(table),
    ...notes,
    exhaust,
    warn: (event, fields) => log.warn(event, fields),
    defer: (message, slower) => queues[slower].send(message),
    delay: (message, seconds) => queues[lane].send(message, seconds),
    retry: retryBy({
      enqueue: (message, delaySeconds) => queues[lane].send(message, delaySeconds),
      // A schedule sends its message to the quick queue. A repeated call with the same name has no effect.
      schedule: (name, message, atMs) => sendAt(atMs, name, { body: message, group: groupOf(message) }),
    }),
    disabledEmail: { ...disabledClaims, send: send('disabled') },
    warningEmail: { ...warningClaims, send: send('failing') },
    overloadEmail: { ...overloadClaims, send: send('overloaded') },
    recoverPage: (message) => recoverPage(message, { ...recovery, clock, enqueue: queues.quick.sendAll }),
  };
  return deliverConsumer(deps, backend);
};
export const handler = create(lambda);
