import { entry } from '../lib/aws/backend.ts';
import { createProject } from '../lib/projects/operator-handlers.ts';

export const { create, handler } = entry(createProject);
