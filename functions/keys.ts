import { connect } from '../lib/aws/backend.ts';
import { lambda, type Runtime } from '../lib/aws/runtime.ts';
import { serve } from '../lib/http/serve.ts';
import { keyHandlers, keyViolations } from '../lib/keys/handlers.ts';

export const create = (runtime: Runtime) => {
  const backend = connect(runtime);
  return serve<'keys'>(keyHandlers(backend), backend, keyViolations(backend.clock));
};
export const handler = create(lambda);
