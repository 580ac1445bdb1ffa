import { environment } from '../lib/aws/environment.ts';
import { events } from '../lib/aws/events.ts';
import { reportFailure } from '../lib/aws/failures.ts';
import { idempotencyRecords } from '../lib/aws/idempotency.ts';
import { log } from '../lib/aws/log.ts';
import { sources } from '../lib/aws/sources.ts';
import { createTable } from '../lib/aws/table.ts';
import { createDispatch } from '../lib/dispatch.ts';
import { eventHandlers } from '../lib/handlers/events.ts';

const table = createTable(environment('TABLE_NAME'));
export const handler = createDispatch(eventHandlers({ events: events(table), ...sources }), {
  idempotency: idempotencyRecords(table, sources.clock),
  log,
  reportFailure,
});
