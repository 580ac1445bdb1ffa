import { type DeliveryRecord, deliveryResource } from '../delivery.ts';
import type { Handlers } from '../dispatch.ts';
import { page } from '../paging.ts';
import { notFound, Refusal } from '../problem.ts';
import { RECOVERABLE, sendAgain } from '../redelivery.ts';
import type { WebhooksDeps } from './webhooks.ts';

type DeliveryHandlers = Pick<Handlers<'webhooks'>, 'listDeliveries' | 'getDelivery' | 'redeliver' | 'recover'>;

/** The delivery log of a webhook, and sending again. */
export function deliveryHandlers({ webhooks, deliveries, enqueue, cursors, clock }: WebhooksDeps): DeliveryHandlers {
  const disabled = () => new Refusal('conflict', 'The webhook is disabled: enable it first.');

  return {
    async listDeliveries(request) {
      const { path, query, space } = request;
      if (!(await webhooks.get(space, path.id ?? ''))) return notFound('webhook');
      const { status, since } = query;
      return page(request, cursors, async (limit, after) => {
        const data: DeliveryRecord[] = [];
        let next = after;
        do {
          const statuses = status && [status];
          const found = await deliveries.list(path.id ?? '', {
            since,
            statuses,
            limit: limit - data.length,
            after: next,
          });
          data.push(...found.deliveries);
          next = found.next;
        } while (next !== undefined && data.length < limit);
        return { data: data.map(deliveryResource), next };
      });
    },

    async getDelivery({ path: { id = '', event_id = '' }, space }) {
      const delivery = (await webhooks.get(space, id)) && (await deliveries.get(id, event_id));
      return delivery ? { body: deliveryResource(delivery) } : notFound('delivery');
    },

    async redeliver({ path: { id = '', event_id = '' }, space }) {
      const webhook = await webhooks.get(space, id);
      const delivery = webhook && (await deliveries.get(id, event_id));
      if (!delivery) return notFound('delivery');
      if (webhook.status === 'disabled') return disabled();
      await sendAgain(space, [delivery], { ...deliveries, enqueue, clock });
      return { body: deliveryResource((await deliveries.get(id, event_id)) ?? delivery) };
    },

    async recover({ path: { id = '' }, body: { since, until }, space }) {
      const webhook = await webhooks.get(space, id);
      if (!webhook) return notFound('webhook');
      if (webhook.status === 'disabled') return disabled();
      const window = { since, until: until ?? clock() };
      const count = await deliveries.count(id, { ...window, statuses: RECOVERABLE });
      if (count > 0) await enqueue([{ recover: { webhookId: id, ...space, ...window } }]);
      return { body: { count } };
    },
  };
}
