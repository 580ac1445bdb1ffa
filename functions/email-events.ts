import { entry } from '../lib/aws/backend.ts';
import { emailConsumer } from '../lib/projects/consumers.ts';

export const { create, handler } = entry(emailConsumer);
