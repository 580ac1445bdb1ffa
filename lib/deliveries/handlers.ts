import type { Backend } from '../aws/backend.ts';
import { eventStore } from '../events/store.ts';
import { page } from '../http/page.ts';
import { notFound, Problem } from '../http/problems.ts';
import type { Handlers } from '../http/serve.ts';
import { cursorsOf } from '../projects/cursors.ts';
import { webhooks as webhooksIn } from '../webhooks/store.ts';
import type { WebhookRecord } from '../webhooks/webhook.ts';
import { laneQueues } from './lane-queues.ts';
import { deliveryLog } from './log-store.ts';
import { firstMessage } from './messages.ts';
import type { deliveryOperations, eventDeliveryOperations } from './operations.ts';
import { type DeliveryRecord, deliveryEntry, deliveryResource, pendingDelivery } from './record.ts';
import { recoveryHandlers } from './recovery-handlers.ts';
import { type Redelivery, redelivery } from './redelivery.ts';
import { statsHandlers } from './stats-handlers.ts';

type DeliveryHandlers = Handlers<typeof deliveryOperations & typeof eventDeliveryOperations>;

const NOT_REDELIVERABLE: Readonly<Record<Extract<Redelivery, string>, string>> = {
  'first run pending': 'Wait for the first attempt. After 24 hours without one, you can redeliver the event.',
  'webhook disabled': 'Enable the webhook first.',
};

export function deliveryHandlers(backend: Backend): DeliveryHandlers {
  const { table, clock, random } = backend;
  const webhooks = webhooksIn(table);
  const events = eventStore(table);
  const deliveries = deliveryLog(table);
  const cursors = cursorsOf(table, random);
  const send = laneQueues(backend);

  async function pending(webhook: WebhookRecord, eventId: string): Promise<DeliveryRecord | undefined> {
    const event = await events.get(webhook, eventId);
    return event && pendingDelivery(event, webhook, clock());
  }

  return {
    ...statsHandlers(backend),
    ...recoveryHandlers(backend),

    async listDeliveries(request) {
      const { path, query, space } = request;
      const { id } = path;
      if (!(await webhooks.get(space, id))) return notFound('webhook');
      const { status: statuses, type: types, document_key: documentKey, since, until } = query;
      return page(request, cursors, async (limit, after) => {
        const filter = { types, since, until, limit, after };
        if (documentKey === undefined) {
          const listed = await deliveries.list(id, { ...filter, statuses });
          return { data: listed.deliveries.map(deliveryEntry), next: listed.next };
        }
        // A document has far fewer events than the log has deliveries.
        const { ids, next } = await events.idsOfDocument(space, { ...filter, documentKey });
        const listed = await deliveries.ofWebhook(id, ids);
        const data = listed.filter(({ status }) => statuses?.includes(status) ?? true);
        return { data: data.map(deliveryEntry), next };
      });
    },

    async getDelivery({ path: { id, event_id }, space }) {
      const webhook = await webhooks.get(space, id);
      const delivery = webhook && ((await deliveries.get(id, event_id)) ?? (await pending(webhook, event_id)));
      return delivery ? { body: deliveryResource(delivery) } : notFound('delivery');
    },

    async listEventDeliveries(request) {
      const { path, space } = request;
      const event = await events.get(space, path.id);
      if (!event) return notFound('event');
      return page(request, cursors, async (limit, after) => {
        const listed = await webhooks.list(space, limit, after);
        const stored = await deliveries.ofEvent(
          event.id,
          listed.webhooks.map(({ id }) => id),
        );
        const data = listed.webhooks.flatMap(
          (webhook) => stored.get(webhook.id) ?? pendingDelivery(event, webhook, clock()) ?? [],
        );
        return { data: data.map(deliveryEntry), next: listed.next };
      });
    },

    // The message goes first, and the response is stored with the new run, so a repeated request sends the same message again.
    // The full delivery can be too large for that transaction. If the first run was never recorded, the new run records itself.
    async redeliver({ path: { id, event_id }, space }, idempotencyWrites) {
      const webhook = await webhooks.get(space, id);
      const event = webhook && (await events.get(space, event_id));
      if (!event) return notFound('delivery');
      const recorded = await deliveries.get(id, event_id);
      const delivery = recorded ?? pendingDelivery(event, webhook, clock());
      if (!delivery) return notFound('delivery');
      const now = clock();
      const run = redelivery(delivery, recorded !== undefined, webhook, now);
      if (typeof run === 'string') return new Problem('conflict', NOT_REDELIVERABLE[run]);
      const response = { body: deliveryEntry({ ...delivery, status: 'pending', nextAttemptAt: now }) };
      await send('quick', [firstMessage(space, id, event_id, { ...run, trigger: 'redelivery' })]);
      await deliveries.startRun(delivery, run, now, idempotencyWrites(response));
      return response;
    },
  };
}
