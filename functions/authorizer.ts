import { authorizer } from '../lib/api/authorizer.ts';
import { entry } from '../lib/aws/backend.ts';

export const { create, handler } = entry(authorizer);
