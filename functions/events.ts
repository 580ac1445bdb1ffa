import { connect } from '../lib/aws/backend.ts';
import { lambda, type Runtime } from '../lib/aws/runtime.ts';
import { eventOperations, serveOperations } from './wiring.ts';

export const create = (runtime: Runtime) => {
  const backend = connect(runtime);
  return serveOperations<'events'>(backend, eventOperations(backend));
};
export const handler = create(lambda);
