import { connect } from '../lib/aws/backend.ts';
import { lambda, type Runtime } from '../lib/aws/runtime.ts';
import { serve } from '../lib/http/serve.ts';
import { tokenHandlers } from '../lib/keys/token-handlers.ts';

export const create = (runtime: Runtime) => {
  const backend = connect(runtime);
  return serve<'tokens'>(tokenHandlers(backend), backend);
};
export const handler = create(lambda);
