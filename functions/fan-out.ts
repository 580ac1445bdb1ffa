import { environment } from '../lib/aws/environment.ts';
import { failedEvents } from '../lib/aws/failed-events.ts';
import { fanOutConsumer } from '../lib/deliveries/fan-out-consumers.ts';
import { aws, withQueues } from './platform.ts';
import { fanOutDeps } from './wiring.ts';

const keep = failedEvents(environment('FAILED_EVENTS_URL'));
export const handler = fanOutConsumer({ ...fanOutDeps({ ...aws(), ...withQueues() }), keep });
