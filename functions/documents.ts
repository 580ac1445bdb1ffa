import { connect } from '../lib/aws/backend.ts';
import { lambda, type Runtime } from '../lib/aws/runtime.ts';
import { serve } from '../lib/http/serve.ts';
import { checks, documentOperations } from './wiring.ts';

export const create = (runtime: Runtime) => {
  const backend = { ...connect(runtime), ...checks(runtime) };
  return serve<'documents'>(documentOperations(backend), backend);
};
export const handler = create(lambda);
