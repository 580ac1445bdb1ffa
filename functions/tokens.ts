import { entry } from '../lib/aws/backend.ts';
import { serve } from '../lib/http/serve.ts';
import { tokenHandlers } from '../lib/keys/token-handlers.ts';

export const { create, handler } = entry((backend) => serve<'tokens'>(tokenHandlers(backend), backend));
