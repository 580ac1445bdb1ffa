import { connect } from '../lib/aws/backend.ts';
import { lambda, type Runtime } from '../lib/aws/runtime.ts';
import { serve } from '../lib/http/serve.ts';
import { auditHandlers } from '../lib/projects/audit-handlers.ts';
import { projectHandlers } from '../lib/projects/handlers.ts';
import { emailing } from './wiring.ts';

export const create = (runtime: Runtime) => {
  const backend = connect(runtime);
  const sourceAddresses = runtime.variables.SOURCE_ADDRESSES?.split(',') ?? [];
  const ofProject = projectHandlers(backend, emailing(runtime, backend), sourceAddresses);
  return serve<'project'>({ ...ofProject, ...auditHandlers(backend) }, backend);
};
export const handler = create(lambda);
