import { connect } from '../lib/aws/backend.ts';
import { lambda, type Runtime } from '../lib/aws/runtime.ts';
import { serve } from '../lib/http/serve.ts';
import { projectOperations, withEmail } from './wiring.ts';

export const create = (runtime: Runtime) => {
  const sourceAddresses = runtime.variables.SOURCE_ADDRESSES?.split(',') ?? [];
  const backend = { ...connect(runtime), ...withEmail(runtime), sourceAddresses };
  return serve<'project'>(projectOperations(backend), backend);
};
export const handler = create(lambda);
