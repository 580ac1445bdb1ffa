import { entry } from '../lib/aws/backend.ts';
import { serve } from '../lib/http/serve.ts';
import { keyHandlers, keyViolations } from '../lib/keys/handlers.ts';
import { keyOperations } from '../lib/keys/operations.ts';

export const { create, handler } = entry((backend) =>
  serve(keyOperations, keyHandlers(backend), backend, keyViolations(backend.clock)),
);
