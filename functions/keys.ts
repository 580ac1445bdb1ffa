import { entry } from '../lib/aws/backend.ts';
import { serve } from '../lib/http/serve.ts';
import { keyHandlers, keyViolations } from '../lib/keys/handlers.ts';

export const { create, handler } = entry((backend) =>
  serve<'keys'>(keyHandlers(backend), backend, keyViolations(backend.clock)),
);
