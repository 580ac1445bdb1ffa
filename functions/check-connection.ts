import { checkConsumer } from '../lib/aws/consumers/check-connection.ts';
import { checkConnection } from '../lib/documents/lost-connections.ts';
import { aws, withChecks } from './platform.ts';
import { connectionDeps } from './wiring.ts';

const deps = connectionDeps({ ...aws(), ...withChecks() });
export const handler = checkConsumer((message) => checkConnection(message, deps));
