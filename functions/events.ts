import { events } from '../lib/aws/dynamodb/events.ts';
import { idempotencyRecords } from '../lib/aws/dynamodb/idempotency.ts';
import { createTable } from '../lib/aws/dynamodb/table.ts';
import { environment } from '../lib/aws/environment.ts';
import { reportFailure } from '../lib/aws/failures.ts';
import { log } from '../lib/aws/log.ts';
import { sources } from '../lib/aws/system.ts';
import { eventHandlers } from '../lib/handlers/events.ts';
import { createDispatch } from '../lib/http/serve.ts';

const table = createTable(environment('TABLE_NAME'));
export const handler = createDispatch(eventHandlers({ events: events(table), ...sources }), {
  idempotency: idempotencyRecords(table, sources.clock),
  log,
  reportFailure,
});
