import { deliveryQueue } from '../lib/aws/delivery-queue.ts';
import { cursorSecrets } from '../lib/aws/dynamodb/cursor-secrets.ts';
import { deliveries } from '../lib/aws/dynamodb/deliveries.ts';
import { events } from '../lib/aws/dynamodb/events.ts';
import { idempotencyRecords } from '../lib/aws/dynamodb/idempotency.ts';
import { createTable } from '../lib/aws/dynamodb/table.ts';
import { webhooks } from '../lib/aws/dynamodb/webhooks.ts';
import { environment, targets } from '../lib/aws/environment.ts';
import { reportFailure } from '../lib/aws/failures.ts';
import { log } from '../lib/aws/log.ts';
import { sources } from '../lib/aws/system.ts';
import { webhookFaults, webhookHandlers } from '../lib/handlers/webhooks.ts';
import { createDispatch } from '../lib/http/serve.ts';

const table = createTable(environment('TABLE_NAME'));
const deliveriesQueue = deliveryQueue(environment('DELIVERIES_QUEUE_URL'));

export const handler = createDispatch(
  webhookHandlers({
    webhooks: webhooks(table),
    deliveries: deliveries(table),
    events: events(table),
    enqueue: deliveriesQueue.sendAll,
    cursors: cursorSecrets(table),
    ...sources,
  }),
  { idempotency: idempotencyRecords(table, sources.clock), log, reportFailure, faults: webhookFaults(targets()) },
);
