import { connections } from '../lib/aws/dynamodb/connections.ts';
import { cursors } from '../lib/aws/dynamodb/cursors.ts';
import { documents } from '../lib/aws/dynamodb/documents.ts';
import { idempotencyRecords } from '../lib/aws/dynamodb/idempotency.ts';
import { createTable } from '../lib/aws/dynamodb/table.ts';
import { environment } from '../lib/aws/environment.ts';
import { reportFailure } from '../lib/aws/failures.ts';
import { log } from '../lib/aws/log.ts';
import { queue } from '../lib/aws/queue.ts';
import { system } from '../lib/aws/system.ts';
import { connectionHandlers } from '../lib/handlers/connections.ts';
import { documentHandlers } from '../lib/handlers/documents.ts';
import { syncHandlers } from '../lib/handlers/sync.ts';
import { serve } from '../lib/http/serve.ts';

const table = createTable(environment('TABLE_NAME'));
const checks = queue(environment('CHECKS_QUEUE_URL'));
const deps = {
  documents: documents(table),
  connections: connections(table),
  cursors: cursors(table, system.random),
  scheduleCheck: (body: unknown, delaySeconds: number) => checks.send({ body, delaySeconds }),
  reportFailure,
  ...system,
};

export const handler = serve<'documents'>(
  { ...documentHandlers(deps), ...syncHandlers(deps), ...connectionHandlers(deps) },
  { idempotency: idempotencyRecords(table, system), log, reportFailure },
);
