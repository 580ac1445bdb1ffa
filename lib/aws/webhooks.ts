import type { Space } from '../space.ts';
import { MAX_WEBHOOKS, type WebhookRecord } from '../webhooks.ts';
import { type Item, itemKey, setting, type Table, type Write } from './table.ts';

export const toWebhook = (item: Item): WebhookRecord => item as unknown as WebhookRecord;

export interface WebhookPage {
  webhooks: WebhookRecord[];
  next: string | undefined;
}

export function webhooks(table: Table) {
  const count = (space: Space, step: 1 | -1): Write => ({
    Update: {
      Key: itemKey.webhookCount(space),
      UpdateExpression: 'ADD webhooks :step',
      ExpressionAttributeValues: step > 0 ? { ':step': step, ':max': MAX_WEBHOOKS } : { ':step': step },
      ...(step > 0 && { ConditionExpression: 'attribute_not_exists(webhooks) OR webhooks < :max' }),
    },
  });

  return {
    async get(space: Space, id: string): Promise<WebhookRecord | undefined> {
      const item = await table.get(itemKey.webhook(space, id));
      return item && toWebhook(item);
    },

    /** In the order of creation. */
    async list(space: Space, limit: number, after?: string): Promise<WebhookPage> {
      const { items, next } = await table.query({
        KeyConditionExpression: 'pk = :pk',
        ExpressionAttributeValues: { ':pk': itemKey.webhook(space, '').pk },
        Limit: limit,
        after: after === undefined ? undefined : itemKey.webhook(space, after),
      });
      return { webhooks: items.map(toWebhook), next: next?.sk };
    },

    /** `false` if the space has as many as it may. */
    async create(webhook: WebhookRecord, also: Write[]): Promise<boolean> {
      const Item = { ...itemKey.webhook(webhook, webhook.id), ...webhook };
      const put: Write = { Put: { Item, ConditionExpression: 'attribute_not_exists(pk)' } };
      return (await table.write([count(webhook, 1), put, ...also])).length === 0;
    },

    /** Sets the defined members and removes the undefined ones; `false` if the webhook is gone. */
    async change(space: Space, id: string, change: Partial<WebhookRecord>): Promise<boolean> {
      const update = {
        Key: itemKey.webhook(space, id),
        ...setting(change),
        ConditionExpression: 'attribute_exists(pk)',
      };
      return (await table.write([{ Update: update }])).length === 0;
    },

    /** `false` if it was gone already. */
    async remove(space: Space, id: string): Promise<boolean> {
      const remove: Write = {
        Delete: { Key: itemKey.webhook(space, id), ConditionExpression: 'attribute_exists(pk)' },
      };
      return (await table.write([remove, count(space, -1)])).length === 0;
    },
  };
}

/** Every webhook of a space: there are at most 100. */
export async function allWebhooks(table: Table, space: Space): Promise<WebhookRecord[]> {
  const { list } = webhooks(table);
  const found: WebhookRecord[] = [];
  for (let after: string | undefined; ; ) {
    const page = await list(space, MAX_WEBHOOKS, after);
    found.push(...page.webhooks);
    if (page.next === undefined) return found;
    after = page.next;
  }
}
