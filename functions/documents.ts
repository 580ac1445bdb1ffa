import { entry } from '../lib/aws/backend.ts';
import { connectionHandlers } from '../lib/documents/connection-handlers.ts';
import { engineHandlers } from '../lib/documents/engine-handlers.ts';
import { documentHandlers } from '../lib/documents/handlers.ts';
import { documentOperations } from '../lib/documents/operations.ts';
import { syncHandlers } from '../lib/documents/sync-handlers.ts';
import { serve } from '../lib/http/serve.ts';

export const { create, handler } = entry((backend) =>
  serve(
    documentOperations,
    {
      ...documentHandlers(backend),
      ...syncHandlers(backend),
      ...connectionHandlers(backend),
      ...engineHandlers(backend),
    },
    backend,
  ),
);
