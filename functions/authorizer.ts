import { connect } from '../lib/aws/backend.ts';
import { lambda, newVariable, type Runtime, variable } from '../lib/aws/runtime.ts';
import { authorization } from './wiring.ts';

export const create = (runtime: Runtime) =>
  authorization({
    ...connect(runtime),
    sharePrefix: variable(runtime, 'SHARE_PREFIX'),
    requestsPerSecond: newVariable(runtime, 'PROJECT_REQUESTS_PER_SECOND'),
  });
export const handler = create(lambda);
