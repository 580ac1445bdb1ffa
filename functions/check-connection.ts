import { checkConsumer } from '../lib/documents/consumers.ts';
import { checkConnection } from '../lib/documents/lost-connections.ts';
import { aws, withChecks } from './platform.ts';
import { connectionDeps } from './wiring.ts';

const deps = connectionDeps({ ...aws(), ...withChecks() });
export const handler = checkConsumer((message) => checkConnection(message, deps));
