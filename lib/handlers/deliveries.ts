import { type DeliveryRecord, deliveryResource, firstMessage } from '../delivery.ts';
import type { Handlers } from '../dispatch.ts';
import { page } from '../paging.ts';
import { notFound, Refusal } from '../problem.ts';
import type { Space } from '../space.ts';
import type { WebhooksDeps } from './webhooks.ts';

/** What `recover` sends again. */
const RECOVERABLE = ['failed', 'canceled', 'skipped'] as const;

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
      await again(space, [delivery]);
      return { body: deliveryResource((await deliveries.get(id, event_id)) ?? delivery) };
    },

    async recover({ path: { id = '' }, body: { since, until }, space }) {
      const webhook = await webhooks.get(space, id);
      if (!webhook) return notFound('webhook');
      if (webhook.status === 'disabled') return disabled();
      let count = 0;
      let after: string | undefined;
      do {
        const found = await deliveries.list(id, { since, until, statuses: RECOVERABLE, limit: 100, after });
        await again(space, found.deliveries);
        count += found.deliveries.length;
        after = found.next;
      } while (after !== undefined);
      return { body: { count } };
    },
  };

  // The messages first: if what follows is lost, they still arrive, and record themselves.
  async function again(space: Space, records: readonly DeliveryRecord[]): Promise<void> {
    await enqueue(records.map(({ webhookId, eventId, round }) => firstMessage(space, webhookId, eventId, round + 1)));
    await Promise.all(records.map((record) => deliveries.beginRound(record, record.round + 1, clock())));
  }
}
