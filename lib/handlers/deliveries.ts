import { notFound, Problem } from '../api/problems.ts';
import type { QueueMessage } from '../delivery/messages.ts';
import { firstMessage } from '../delivery/messages.ts';
import type { DeliveryFilter, DeliveryRecord } from '../delivery/record.ts';
import { deliveryResource } from '../delivery/record.ts';
import { recoverableAt } from '../delivery/redelivery.ts';
import type { CursorSecrets } from '../http/pagination.ts';
import { page } from '../http/pagination.ts';
import type { Handlers } from '../http/serve.ts';
import type { Space } from '../space.ts';
import type { TransactionPart } from '../transaction.ts';
import type { WebhookRecord } from '../webhooks/webhooks.ts';

export type DeliveryHandlers = Pick<Handlers<'webhooks'>, 'listDeliveries' | 'getDelivery' | 'redeliver' | 'recover'>;

/** The delivery logs of webhooks as they are stored. */
export interface DeliveryLog {
  get(webhookId: string, eventId: string): Promise<DeliveryRecord | undefined>;
  /** Newest first. Reads so much and no more: with a filter, a page may be short, or empty, before the end. */
  list(
    webhookId: string,
    options: DeliveryFilter & { limit: number; after?: string | undefined },
  ): Promise<{ deliveries: DeliveryRecord[]; next: string | undefined }>;
  /** How many there are; exact until it has read 32 MB of the log, then at least. */
  count(webhookId: string, filter: DeliveryFilter): Promise<number>;
  /**
   * Shows that a new run is under way; its attempts may have come first. Of the earlier ones the latest stay. `also` is
   * written with it.
   */
  startRun(record: DeliveryRecord, run: number, nowMs: number, also?: readonly TransactionPart[]): Promise<void>;
}

export interface DeliveriesDeps {
  webhooks: { get(space: Space, id: string): Promise<WebhookRecord | undefined> };
  deliveries: DeliveryLog;
  /** Hands messages to the deliveries queue. */
  enqueue(messages: readonly QueueMessage[]): Promise<void>;
  cursors: CursorSecrets;
  clock(): number;
}

/** The delivery log of a webhook, and sending again. */
export function deliveryHandlers({ webhooks, deliveries, enqueue, cursors, clock }: DeliveriesDeps): DeliveryHandlers {
  const disabled = () => new Problem('conflict', 'The webhook is disabled. Enable it first.');

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

    // The message goes first, and the response is stored with the new run: a repetition sends the same message again.
    async redeliver({ path: { id = '', event_id = '' }, space }, idempotencyWrites) {
      const webhook = await webhooks.get(space, id);
      const delivery = webhook && (await deliveries.get(id, event_id));
      if (!delivery) return notFound('delivery');
      if (webhook.status === 'disabled') return disabled();
      const now = clock();
      const run = delivery.run + 1;
      const response = { body: deliveryResource({ ...delivery, status: 'retrying', nextAttemptAt: now }) };
      await enqueue([firstMessage(space, id, event_id, { run, trigger: 'redelivery' })]);
      await deliveries.startRun(delivery, run, now, idempotencyWrites(response));
      return response;
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
