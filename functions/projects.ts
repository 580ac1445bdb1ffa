import { entry } from '../lib/aws/backend.ts';
import { operatorHandler } from '../lib/projects/operator-handlers.ts';

export const { create, handler } = entry(operatorHandler);
