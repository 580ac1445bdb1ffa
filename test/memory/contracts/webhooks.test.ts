import { describe, expect, it } from 'vitest';
import { itemKey } from '../../../lib/aws/items.ts';
import type { Space } from '../../../lib/space.ts';
import { allWebhooks, webhooks } from '../../../lib/webhooks/store.ts';
import type { WebhookRecord } from '../../../lib/webhooks/webhook.ts';
import { newSpace, newWebhook, now, recordOf, walk } from './builders.ts';
import { companion, newStore } from './stores.ts';

const { table, short } = newStore();

describe('webhooks', () => {
  const store = webhooks(table);
  const stored = async (webhook: WebhookRecord) => recordOf(await store.get(webhook, webhook.id));
  const counted = async (space: Space) => (await table.get(itemKey.webhookCount(space)))?.webhooks ?? 0;
  async function create(overrides: Partial<WebhookRecord> = {}): Promise<WebhookRecord> {
    const webhook = newWebhook(overrides);
    await store.create(webhook, []);
    return webhook;
  }
  async function fill(space: Space, count: number): Promise<WebhookRecord[]> {
    const created: WebhookRecord[] = [];
    for (let i = 0; i < count; i++) created.push(await create({ ...space, createdAt: now + i }));
    return created;
  }

  it('are not created with an existing id, without a change or a count', async () => {
    const webhook = await create();
    const { also, isWritten } = companion(table);
    await expect(store.create({ ...webhook, url: 'https://other.example/' }, also)).rejects.toThrow('taken');
    expect(await stored(webhook)).toEqual(webhook);
    expect(await counted(webhook)).toBe(1);
    expect(await isWritten()).toBe(false);
  });

  it.each([
    ['of one read', table],
    ['cut short', short],
  ])('are listed once, in the order of creation, in pages %s', async (_, from) => {
    const space = newSpace();
    const created = await fill(space, 6);
    await create({ ...space, environment: 'sandbox' });
    const { entries, pages } = await walk(async (after) => {
      const { webhooks: found, next } = await webhooks(from).list(space, 3, after);
      return { entries: found.map(recordOf), next };
    });
    expect(entries).toEqual(created);
    expect(pages.map(({ length }) => length)).toEqual([3, 3]);
    expect((await allWebhooks(from, space)).map(recordOf)).toEqual(created);
  });

  describe('change', () => {
    it('is undefined and changes nothing if the status has changed', async () => {
      const webhook = await create();
      await store.change(webhook, { status: 'disabled' });
      const before = await stored(webhook);
      expect(await store.change(webhook, { description: 'Mine' })).toBeUndefined();
      expect(await stored(webhook)).toEqual(before);
    });

    it('returns its own change, and keeps the changes of other members since the webhook was read', async () => {
      const webhook = await create();
      await store.change(webhook, { description: 'Theirs' });
      expect(await store.change(webhook, { maxPerSecond: 5 })).toEqual({ ...webhook, maxPerSecond: 5 });
      expect(await stored(webhook)).toMatchObject({ description: 'Theirs', maxPerSecond: 5 });
    });
  });
});
