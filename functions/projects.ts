import { entry } from '../lib/aws/backend.ts';
import { operatorHandler } from '../lib/operators/handlers.ts';

export const { create, handler } = entry(operatorHandler);
