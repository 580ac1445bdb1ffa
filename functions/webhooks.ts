import { deliveryQueue } from '../lib/aws/delivery-queue.ts';
import { auditLog } from '../lib/aws/dynamodb/audit.ts';
import { cursors } from '../lib/aws/dynamodb/cursors.ts';
import { deliveryLog } from '../lib/aws/dynamodb/delivery-log.ts';
import { events } from '../lib/aws/dynamodb/events.ts';
import { figures } from '../lib/aws/dynamodb/figures.ts';
import { idempotencyRecords } from '../lib/aws/dynamodb/idempotency.ts';
import { createTable } from '../lib/aws/dynamodb/table.ts';
import { allWebhooks, webhooks } from '../lib/aws/dynamodb/webhooks.ts';
import { addressPolicy, environment } from '../lib/aws/environment.ts';
import { reportFailure } from '../lib/aws/failures.ts';
import { log } from '../lib/aws/log.ts';
import { system } from '../lib/aws/system.ts';
import { deliveryHandlers } from '../lib/handlers/deliveries.ts';
import { statsHandlers } from '../lib/handlers/stats.ts';
import { webhookHandlers, webhookViolations } from '../lib/handlers/webhooks.ts';
import { serve } from '../lib/http/serve.ts';
import type { Space } from '../lib/space.ts';

const table = createTable(environment('TABLE_NAME'));
const deliveriesQueue = deliveryQueue(environment('DELIVERIES_QUEUE_URL'));

const deps = {
  audit: auditLog(table),
  webhooks: webhooks(table),
  allWebhooks: (space: Space) => allWebhooks(table, space),
  deliveries: deliveryLog(table),
  events: events(table),
  figures: figures(table),
  enqueue: deliveriesQueue.sendAll,
  cursors: cursors(table, system.random),
  ...system,
};

export const handler = serve<'webhooks'>(
  { ...webhookHandlers(deps), ...deliveryHandlers(deps), ...statsHandlers(deps) },
  {
    idempotency: idempotencyRecords(table, system),
    log,
    reportFailure,
    violations: webhookViolations(addressPolicy()),
  },
);
