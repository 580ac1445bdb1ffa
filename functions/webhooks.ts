import { cursorSecrets } from '../lib/aws/cursor-secrets.ts';
import { deliveries } from '../lib/aws/deliveries.ts';
import { deliveryQueue } from '../lib/aws/delivery-queue.ts';
import { environment, targets } from '../lib/aws/environment.ts';
import { events } from '../lib/aws/events.ts';
import { reportFailure } from '../lib/aws/failures.ts';
import { idempotencyRecords } from '../lib/aws/idempotency.ts';
import { log } from '../lib/aws/log.ts';
import { sources } from '../lib/aws/sources.ts';
import { createTable } from '../lib/aws/table.ts';
import { webhooks } from '../lib/aws/webhooks.ts';
import { createDispatch } from '../lib/dispatch.ts';
import { webhookFaults, webhookHandlers } from '../lib/handlers/webhooks.ts';

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
