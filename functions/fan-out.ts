import { connect } from '../lib/aws/backend.ts';
import { failedEvents } from '../lib/aws/failed-events.ts';
import { lambda, type Runtime, variable } from '../lib/aws/runtime.ts';
import { fanOutConsumer } from '../lib/deliveries/stream-consumers.ts';

/** `keeper` creates the function that stores a record that cannot be handled. */
export const create = (runtime: Runtime, keeper: typeof failedEvents = failedEvents) =>
  fanOutConsumer(connect(runtime), keeper(variable(runtime, 'FAILED_EVENTS_URL')));
export const handler = create(lambda);
