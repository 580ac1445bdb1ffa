import { emailEventsConsumer } from '../lib/aws/consumers/email-events.ts';
import { aws, withEmail } from './platform.ts';
import { emailEventsDeps } from './wiring.ts';

export const handler = emailEventsConsumer(emailEventsDeps({ ...aws(), ...withEmail() }));
