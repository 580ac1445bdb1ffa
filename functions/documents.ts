import { connect } from '../lib/aws/backend.ts';
import { lambda, type Runtime } from '../lib/aws/runtime.ts';
import { connectionHandlers } from '../lib/documents/connection-handlers.ts';
import { documentHandlers } from '../lib/documents/handlers.ts';
import { syncHandlers } from '../lib/documents/sync-handlers.ts';
import { serve } from '../lib/http/serve.ts';

export const create = (runtime: Runtime) => {
  const backend = connect(runtime);
  const handlers = { ...documentHandlers(backend), ...syncHandlers(backend), ...connectionHandlers(backend) };
  return serve<'documents'>(handlers, backend);
};
export const handler = create(lambda);
