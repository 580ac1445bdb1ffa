import { connect } from '../lib/aws/backend.ts';
import { lambda, type Runtime } from '../lib/aws/runtime.ts';
import { eventHandlers, eventViolations } from '../lib/events/handlers.ts';
import { serve } from '../lib/http/serve.ts';

export const create = (runtime: Runtime) => {
  const backend = connect(runtime);
  return serve<'events'>(eventHandlers(backend), backend, eventViolations(backend.clock));
};
export const handler = create(lambda);
