import { entry } from '../lib/aws/backend.ts';
import { createProject } from '../lib/operators/handlers.ts';

export const { create, handler } = entry(createProject);
