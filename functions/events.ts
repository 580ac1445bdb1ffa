import { entry } from '../lib/aws/backend.ts';
import { outcomes } from '../lib/deliveries/outcome-store.ts';
import { eventHandlers, eventViolations } from '../lib/events/handlers.ts';
import { eventOperations } from '../lib/events/operations.ts';
import { serve } from '../lib/http/serve.ts';

export const { create, handler } = entry((backend) =>
  serve(eventOperations, eventHandlers(backend, outcomes(backend.table)), backend, eventViolations(backend.clock)),
);
