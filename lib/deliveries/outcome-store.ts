import { itemKey } from '../aws/items.ts';
import type { Table } from '../aws/table.ts';
import type { EventOutcome, StoredEvent } from '../events/event.ts';
import type { Space } from '../space.ts';
import { allWebhooks } from '../webhooks/store.ts';
import { toDelivery } from './log-store.ts';
import { isCounted, outcomeOf } from './outcome.ts';
import { pendingDelivery } from './record.ts';

/** The deliveries that one page of events reads. */
const MAX_DELIVERIES = 1000;

/** The outcomes of events. A page has as many events as `MAX_DELIVERIES` allows, and at least one. */
export function outcomes(table: Table) {
  return async (space: Space) => {
    const webhooks = await allWebhooks(table, space);
    return {
      maxEvents: Math.max(1, Math.floor(MAX_DELIVERIES / Math.max(1, webhooks.length))),

      /** Returns the outcome of each event, in order. */
      async of(events: readonly StoredEvent[]): Promise<EventOutcome[]> {
        const keys = events.flatMap((event) => webhooks.map(({ id }) => itemKey.delivery(id, event.id)));
        // A record has up to 100 KB, and the function has 512 MB.
        const items = await table.batchGetLate(keys, ['status', 'reason']);
        const now = table.now();
        return events.map((event, row) => {
          const statuses = webhooks.flatMap((webhook, column) => {
            const item = items[row * webhooks.length + column];
            const delivery = item ? toDelivery(item) : pendingDelivery(event, webhook, now);
            return delivery && isCounted(delivery, webhook) ? delivery.status : [];
          });
          return outcomeOf(statuses);
        });
      },
    };
  };
}
