import { notFound, Refusal } from '../api/problems.ts';
import { deliveryResource, firstMessage } from '../delivery/record.ts';
import { recoverableAt } from '../delivery/redelivery.ts';
import { page } from '../http/pagination.ts';
import type { Handlers } from '../http/serve.ts';
import type { WebhooksDeps } from './webhooks.ts';

type DeliveryHandlers = Pick<Handlers<'webhooks'>, 'listDeliveries' | 'getDelivery' | 'redeliver' | 'recover'>;

/** The delivery log of a webhook, and sending again. */
export function deliveryHandlers({ webhooks, deliveries, enqueue, cursors, clock }: WebhooksDeps): DeliveryHandlers {
  const disabled = () => new Refusal('conflict', 'The webhook is disabled: enable it first.');

  return {
    async listDeliveries(request) {
      const { path, query, space } = request;
      const { id = '' } = path;
      if (!(await webhooks.get(space, id))) return notFound('webhook');
      const { status, since } = query;
      return page(request, cursors, async (limit, after) => {
        const found = await deliveries.list(id, { since, statuses: status && [status], limit, after });
        return { data: found.deliveries.map(deliveryResource), next: found.next };
      });
    },

    async getDelivery({ path: { id = '', event_id = '' }, space }) {
      const delivery = (await webhooks.get(space, id)) && (await deliveries.get(id, event_id));
      return delivery ? { body: deliveryResource(delivery) } : notFound('delivery');
    },

    // The message goes first, and the answer is stored with the new round: a repetition sends the same message again.
    async redeliver({ path: { id = '', event_id = '' }, space }, completing) {
      const webhook = await webhooks.get(space, id);
      const delivery = webhook && (await deliveries.get(id, event_id));
      if (!delivery) return notFound('delivery');
      if (webhook.status === 'disabled') return disabled();
      const now = clock();
      const round = delivery.round + 1;
      const reply = { body: deliveryResource({ ...delivery, status: 'retrying', nextAttemptAt: now }) };
      await enqueue([firstMessage(space, id, event_id, { round, trigger: 'redelivery' })]);
      await deliveries.beginRound(delivery, round, now, completing(reply));
      return reply;
    },

    async recover({ path: { id = '' }, body: { since, until }, space }) {
      const webhook = await webhooks.get(space, id);
      if (!webhook) return notFound('webhook');
      if (webhook.status === 'disabled') return disabled();
      const window = { since, until: until ?? clock() };
      const count = await deliveries.count(id, { ...window, ...recoverableAt(clock()) });
      if (count > 0) await enqueue([{ recover: { webhookId: id, ...space, ...window } }]);
      return { body: { count } };
    },
  };
}
