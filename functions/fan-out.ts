import { entry } from '../lib/aws/backend.ts';
import { failedEvents } from '../lib/aws/failed-events.ts';
import { variable } from '../lib/aws/runtime.ts';
import { fanOutConsumer } from '../lib/deliveries/stream-consumers.ts';

/** `keeper` creates the function that stores a record that cannot be handled. */
export const { create, handler } = entry((backend, keeper: typeof failedEvents = failedEvents) =>
  fanOutConsumer(backend, keeper(variable(backend, 'FAILED_EVENTS_URL'))),
);
