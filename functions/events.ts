import { cursors } from '../lib/aws/dynamodb/cursors.ts';
import { events } from '../lib/aws/dynamodb/events.ts';
import { idempotencyRecords } from '../lib/aws/dynamodb/idempotency.ts';
import { createTable } from '../lib/aws/dynamodb/table.ts';
import { environment } from '../lib/aws/environment.ts';
import { reportFailure } from '../lib/aws/failures.ts';
import { log } from '../lib/aws/log.ts';
import { system } from '../lib/aws/system.ts';
import { eventHandlers } from '../lib/handlers/events.ts';
import { serve } from '../lib/http/serve.ts';

const table = createTable(environment('TABLE_NAME'));
export const handler = serve(
  eventHandlers({ events: events(table), cursors: cursors(table, system.random), ...system }),
  {
    idempotency: idempotencyRecords(table, system),
    log,
    reportFailure,
  },
);
