import type { Space } from '../../space.ts';
import { MAX_WEBHOOKS, type WebhookRecord } from '../../webhooks/webhooks.ts';
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

    /** `full`: the space has as many as it may. Throws if what is `also` written is refused. */
    async create(webhook: WebhookRecord, also: Write[]): Promise<'created' | 'full'> {
      const Item = { ...itemKey.webhook(webhook, webhook.id), ...webhook };
      const put: Write = { Put: { Item, ConditionExpression: 'attribute_not_exists(pk)' } };
      const [rejected] = await table.write([count(webhook, 1), put, ...also]);
      if (!rejected) return 'created';
      if (rejected.index === 0) return 'full';
      throw new Error('The new webhook id is taken, or another run of this request has begun');
    },

    /**
     * Sets the defined members and removes the undefined ones. Returns the webhook as it is then; `undefined` if it is gone,
     * or its status is no longer what was read.
     */
    async change(read: WebhookRecord, change: Partial<WebhookRecord>): Promise<WebhookRecord | undefined> {
      const update = setting(change);
      const item = await table.update({
        Key: itemKey.webhook(read, read.id),
        ...update,
        ExpressionAttributeNames: { ...update.ExpressionAttributeNames, '#status': 'status' },
        ExpressionAttributeValues: { ...update.ExpressionAttributeValues, ':read': read.status },
        ConditionExpression: '#status = :read',
      });
      return item && toWebhook(item);
    },

    /** Replaces the secret that was read; `false` if it has been replaced meanwhile, or the webhook is gone. */
    async rotate(read: WebhookRecord, change: Partial<WebhookRecord>, also: Write[]): Promise<boolean> {
      const update = setting(change);
      const rotate: Write = {
        Update: {
          Key: itemKey.webhook(read, read.id),
          ...update,
          ExpressionAttributeValues: { ...update.ExpressionAttributeValues, ':read': read.secret },
          ConditionExpression: '#secret = :read',
        },
      };
      return (await table.write([rotate, ...also])).length === 0;
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
