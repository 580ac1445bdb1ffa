import { cursorSecrets } from '../lib/aws/dynamodb/cursor-secrets.ts';
import { idempotencyRecords } from '../lib/aws/dynamodb/idempotency.ts';
import { apiKeys } from '../lib/aws/dynamodb/keys.ts';
import { createTable } from '../lib/aws/dynamodb/table.ts';
import { environment } from '../lib/aws/environment.ts';
import { reportFailure } from '../lib/aws/failures.ts';
import { log } from '../lib/aws/log.ts';
import { sources } from '../lib/aws/system.ts';
import { keyFaults, keyHandlers } from '../lib/handlers/keys.ts';
import { createDispatch } from '../lib/http/serve.ts';

const table = createTable(environment('TABLE_NAME'));
export const handler = createDispatch(
  keyHandlers({ keys: apiKeys(table), cursors: cursorSecrets(table), ...sources }),
  { idempotency: idempotencyRecords(table, sources.clock), log, reportFailure, faults: keyFaults(sources.clock) },
);
