import { aws, withQueue } from './platform.ts';
import { projectAdministration } from './project-wiring.ts';

// Reads the variable of the queue when it sends, so that the other operations work while a deployment has not added it yet.
export const handler = projectAdministration({
  ...aws(),
  enqueue: (messages, delaySeconds) => withQueue().queue.sendAll(messages, delaySeconds),
});
