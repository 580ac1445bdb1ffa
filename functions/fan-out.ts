import { connect } from '../lib/aws/backend.ts';
import { failedEvents } from '../lib/aws/failed-events.ts';
import { lambda, type Runtime, variable } from '../lib/aws/runtime.ts';
import { laneQueues } from '../lib/deliveries/queue-store.ts';
import { deliveries } from '../lib/deliveries/store.ts';
import { fanOutConsumer } from '../lib/deliveries/stream-consumers.ts';
import { allWebhooks } from '../lib/webhooks/store.ts';

/** `keeper` creates the function that stores a record that cannot be handled. */
export const create = (runtime: Runtime, keeper: typeof failedEvents = failedEvents) => {
  const backend = connect(runtime);
  const { table, clock } = backend;
  const queues = laneQueues(runtime);
  return fanOutConsumer(
    {
      clock,
      webhooks: (space) => allWebhooks(table, space),
      enqueue: (lane, messages) => queues[lane].sendAll(messages),
      skip: (message, event) => deliveries(table).end(message, event, 'skipped', clock()),
      keep: keeper(variable(runtime, 'FAILED_EVENTS_URL')),
    },
    backend,
  );
};
export const handler = create(lambda);
