import { entry } from '../lib/aws/backend.ts';
import { serve } from '../lib/http/serve.ts';
import { linkHandlers } from '../lib/keys/link-handlers.ts';
import { linkOperations } from '../lib/keys/link-operations.ts';
import { tokenHandlers } from '../lib/keys/token-handlers.ts';
import { tokenOperations } from '../lib/keys/token-operations.ts';

export const { create, handler } = entry((backend) =>
  serve({ ...tokenOperations, ...linkOperations }, { ...tokenHandlers(backend), ...linkHandlers(backend) }, backend),
);
