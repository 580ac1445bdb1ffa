import { entry } from '../lib/aws/backend.ts';
import { authorizer } from '../lib/http/authorizer-handlers.ts';

export const { create, handler } = entry(authorizer);
