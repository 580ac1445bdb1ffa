import { entry } from '../lib/aws/backend.ts';
import { eventHandlers, eventViolations } from '../lib/events/handlers.ts';
import { eventOperations } from '../lib/events/operations.ts';
import { serve } from '../lib/http/serve.ts';

export const { create, handler } = entry((backend) =>
  serve(eventOperations, eventHandlers(backend), backend, eventViolations(backend.clock)),
);
