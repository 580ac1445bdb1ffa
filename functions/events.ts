import { entry } from '../lib/aws/backend.ts';
import { eventHandlers, eventViolations } from '../lib/events/handlers.ts';
import { serve } from '../lib/http/serve.ts';

export const { create, handler } = entry((backend) =>
  serve<'events'>(eventHandlers(backend), backend, eventViolations(backend.clock)),
);
