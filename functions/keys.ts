import { cursorSecrets } from '../lib/aws/cursor-secrets.ts';
import { environment } from '../lib/aws/environment.ts';
import { reportFailure } from '../lib/aws/failures.ts';
import { idempotencyRecords } from '../lib/aws/idempotency.ts';
import { apiKeys } from '../lib/aws/keys.ts';
import { log } from '../lib/aws/log.ts';
import { sources } from '../lib/aws/sources.ts';
import { createTable } from '../lib/aws/table.ts';
import { createDispatch } from '../lib/dispatch.ts';
import { keyFaults, keyHandlers } from '../lib/handlers/keys.ts';

const table = createTable(environment('TABLE_NAME'));
export const handler = createDispatch(
  keyHandlers({ keys: apiKeys(table), cursors: cursorSecrets(table), ...sources }),
  { idempotency: idempotencyRecords(table, sources.clock), log, reportFailure, faults: keyFaults(sources.clock) },
);
