import { connect } from '../lib/aws/backend.ts';
import { lambda, type Runtime } from '../lib/aws/runtime.ts';
import { connectionHandlers } from '../lib/documents/connection-handlers.ts';
import { connections } from '../lib/documents/connection-store.ts';
import { documentHandlers } from '../lib/documents/handlers.ts';
import { documents } from '../lib/documents/store.ts';
import { syncHandlers } from '../lib/documents/sync-handlers.ts';
import { serve } from '../lib/http/serve.ts';
import { checks, stores } from './wiring.ts';

export const create = (runtime: Runtime) => {
  const backend = connect(runtime);
  const { table } = backend;
  const deps = {
    ...backend,
    ...stores(backend),
    ...checks(runtime),
    documents: documents(table),
    connections: connections(table),
  };
  return serve<'documents'>({ ...documentHandlers(deps), ...syncHandlers(deps), ...connectionHandlers(deps) }, backend);
};
export const handler = create(lambda);
