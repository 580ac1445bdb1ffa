import { addressPolicy } from '../lib/aws/environment.ts';
import { webhookViolations } from '../lib/webhooks/handlers.ts';
import { aws, withQueue } from './platform.ts';
import { serveOperations, webhookOperations } from './wiring.ts';

const platform = { ...aws(), ...withQueue() };
const violations = webhookViolations(addressPolicy());
export const handler = serveOperations<'webhooks'>(platform, webhookOperations(platform), violations);
