import { connect } from '../lib/aws/backend.ts';
import { lambda, type Runtime } from '../lib/aws/runtime.ts';
import { checks, documentOperations, serveOperations } from './wiring.ts';

export const create = (runtime: Runtime) => {
  const backend = { ...connect(runtime), ...checks(runtime) };
  return serveOperations<'documents'>(backend, documentOperations(backend));
};
export const handler = create(lambda);
