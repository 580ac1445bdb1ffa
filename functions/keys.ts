import { connect } from '../lib/aws/backend.ts';
import { lambda, type Runtime } from '../lib/aws/runtime.ts';
import { serve } from '../lib/http/serve.ts';
import { keyViolations } from '../lib/keys/handlers.ts';
import { keyOperations, withEmail } from './wiring.ts';

export const create = (runtime: Runtime) => {
  const backend = { ...connect(runtime), ...withEmail(runtime) };
  return serve<'keys'>(keyOperations(backend), backend, keyViolations(backend.clock));
};
export const handler = create(lambda);
