import { connect } from '../lib/aws/backend.ts';
import { lambda, type Runtime } from '../lib/aws/runtime.ts';
import { connections } from '../lib/documents/connection-store.ts';
import { checkConsumer } from '../lib/documents/consumers.ts';
import { checkConnection } from '../lib/documents/lost-connections.ts';
import { checks } from './wiring.ts';

export const create = (runtime: Runtime) => {
  const backend = connect(runtime);
  const deps = { ...backend, ...checks(runtime), connections: connections(backend.table) };
  return checkConsumer((message) => checkConnection(message, deps), backend);
};
export const handler = create(lambda);
