import { emailEventsConsumer } from '../lib/projects/consumers.ts';
import { aws, withEmail } from './platform.ts';
import { emailEventsDeps } from './wiring.ts';

export const handler = emailEventsConsumer(emailEventsDeps({ ...aws(), ...withEmail() }));
