import { entry } from '../lib/aws/backend.ts';
import { serve } from '../lib/http/serve.ts';
import { projectHandlers } from '../lib/projects/handlers.ts';
import { projectOperations } from '../lib/projects/operations.ts';

export const { create, handler } = entry((backend) => serve(projectOperations, projectHandlers(backend), backend));
