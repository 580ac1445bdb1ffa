import { entry } from '../lib/aws/backend.ts';
import { checkConsumer } from '../lib/documents/consumers.ts';

export const { create, handler } = entry(checkConsumer);
