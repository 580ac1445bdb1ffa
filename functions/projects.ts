import { connect } from '../lib/aws/backend.ts';
import { lambda, type Runtime } from '../lib/aws/runtime.ts';
import { deliveryQueue } from '../lib/deliveries/queue-store.ts';
import { projectAdministration } from './project-wiring.ts';

// Reads the variable of the queue when it sends, so that the other operations work while a deployment has not added it yet.
export const create = (runtime: Runtime) =>
  projectAdministration({
    ...connect(runtime),
    enqueue: (messages, delaySeconds) => deliveryQueue(runtime, 'quick').sendAll(messages, delaySeconds),
  });
export const handler = create(lambda);
