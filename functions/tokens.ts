import { connect } from '../lib/aws/backend.ts';
import { lambda, type Runtime } from '../lib/aws/runtime.ts';
import { serveOperations, tokenOperations } from './wiring.ts';

export const create = (runtime: Runtime) => {
  const backend = connect(runtime);
  return serveOperations<'tokens'>(backend, tokenOperations(backend));
};
export const handler = create(lambda);
