import { environment } from '../lib/aws/environment.ts';
import { reportFailure } from '../lib/aws/failures.ts';
import { idempotencyRecords } from '../lib/aws/idempotency.ts';
import { apiKeys } from '../lib/aws/keys.ts';
import { log } from '../lib/aws/log.ts';
import { sources } from '../lib/aws/sources.ts';
import { createTable } from '../lib/aws/table.ts';
import { createDispatch } from '../lib/dispatch.ts';
import { tokenHandlers } from '../lib/handlers/tokens.ts';

const table = createTable(environment('TABLE_NAME'));
export const handler = createDispatch(tokenHandlers({ keys: apiKeys(table), ...sources }), {
  idempotency: idempotencyRecords(table, sources.clock),
  log,
  reportFailure,
});
