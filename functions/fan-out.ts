import { connect } from '../lib/aws/backend.ts';
import { failedEvents } from '../lib/aws/failed-events.ts';
import { lambda, type Runtime, variable } from '../lib/aws/runtime.ts';
import { fanOutConsumer } from '../lib/deliveries/fan-out-consumers.ts';
import { laneQueues } from '../lib/deliveries/queue-store.ts';
import { fanOutDeps } from './wiring.ts';

/** `keeper` creates the function that stores a record that cannot be handled. */
export const create = (runtime: Runtime, keeper: typeof failedEvents = failedEvents) => {
  const backend = connect(runtime);
  const keep = keeper(variable(runtime, 'FAILED_EVENTS_URL'));
  return fanOutConsumer({ ...fanOutDeps({ ...backend, queues: laneQueues(runtime) }), keep }, backend);
};
export const handler = create(lambda);
