import { entry } from '../lib/aws/backend.ts';
import { emailConsumer } from '../lib/emails/consumers.ts';

export const { create, handler } = entry(emailConsumer);
