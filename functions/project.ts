import { entry } from '../lib/aws/backend.ts';
import { serve } from '../lib/http/serve.ts';
import { projectHandlers } from '../lib/projects/handlers.ts';

export const { create, handler } = entry((backend) => serve<'project'>(projectHandlers(backend), backend));
