import { connect } from '../lib/aws/backend.ts';
import { lambda, type Runtime } from '../lib/aws/runtime.ts';
import { serve } from '../lib/http/serve.ts';
import { projectHandlers } from '../lib/projects/handlers.ts';

export const create = (runtime: Runtime) => {
  const backend = connect(runtime);
  return serve<'project'>(projectHandlers(backend), backend);
};
export const handler = create(lambda);
