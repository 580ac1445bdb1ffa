import { describe, expect, it } from 'vitest';
import { itemKey } from '../../../lib/aws/items.ts';
import type { Space } from '../../../lib/space.ts';
import { allWebhooks, webhooks } from '../../../lib/webhooks/store.ts';
import { MAX_WEBHOOKS, type WebhookRecord } from '../../../lib/webhooks/webhook.ts';
import { newSpace, newWebhook, now, recordOf, walk } from './builders.ts';
import { companion, newStore } from './stores.ts';

const { table, lossy, short } = newStore();

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

  describe('create', () => {
    it('stores and counts the webhook, together with other writes', async () => {
      const webhook = newWebhook({ description: '', events: ['document.deleted', 'sync.conflict'] });
      const { also, isWritten } = companion(table);
      expect(await store.create(webhook, also)).toBe('created');
      expect(await stored(webhook)).toEqual(webhook);
      expect(await counted(webhook)).toBe(1);
      expect(await isWritten()).toBe(true);
    });

    it('rejects a webhook over the limit, and accepts one after a removal', async () => {
      const space = newSpace();
      const [first] = await fill(space, MAX_WEBHOOKS);
      const refused = newWebhook(space);
      const { also, isWritten } = companion(table);
      expect(await store.create(refused, also)).toBe('full');
      expect(await store.get(space, refused.id)).toBeUndefined();
      expect(await isWritten()).toBe(false);
      expect(await counted(space)).toBe(MAX_WEBHOOKS);
      const other = newWebhook({ ...space, environment: 'sandbox' });
      expect(await store.create(other, [])).toBe('created');

      await store.remove(space, first?.id ?? '');
      const both = await Promise.all([1, 2].map(() => store.create(newWebhook(space), [])));
      expect(both.sort()).toEqual(['created', 'full']);
      expect(await allWebhooks(table, space)).toHaveLength(MAX_WEBHOOKS);
    });

    it('throws for an existing id, without a change or a count', async () => {
      const webhook = await create();
      const { also, isWritten } = companion(table);
      await expect(store.create({ ...webhook, url: 'https://other.example/' }, also)).rejects.toThrow('taken');
      expect(await stored(webhook)).toEqual(webhook);
      expect(await counted(webhook)).toBe(1);
      expect(await isWritten()).toBe(false);
    });
  });

  describe('get', () => {
    it('finds a webhook only in its own space', async () => {
      const webhook = await create();
      const spaces: Space[] = [webhook, { ...webhook, environment: 'sandbox' }, newSpace()];
      const found = await Promise.all(spaces.map((space) => store.get(space, webhook.id)));
      expect(found.map((each) => each?.id)).toEqual([webhook.id, undefined, undefined]);
    });
  });

  describe('list', () => {
    it.each([
      ['of one read', table],
      ['cut short', short],
    ])('lists every webhook of the space once, in the order of creation, in pages %s', async (_, from) => {
      const space = newSpace();
      const created = await fill(space, 7);
      await create({ ...space, environment: 'sandbox' });
      const { entries, pages } = await walk(async (after) => {
        const { webhooks: found, next } = await webhooks(from).list(space, 3, after);
        return { entries: found.map(recordOf), next };
      });
      expect(entries).toEqual(created);
      expect(Math.max(...pages.map(({ length }) => length))).toBeLessThanOrEqual(3);
      expect((await allWebhooks(from, space)).map(recordOf)).toEqual(created);
    });

    it('has one page if the number matches the limit', async () => {
      const space = newSpace();
      await fill(space, 3);
      const { webhooks: found, next } = await store.list(space, 3);
      expect([found.length, next]).toEqual([3, undefined]);
    });

    it('continues after a removed webhook', async () => {
      const space = newSpace();
      const [, second, third] = await fill(space, 3);
      await store.remove(space, second?.id ?? '');
      expect((await store.list(space, 10, second?.id)).webhooks.map(recordOf)).toEqual([third]);
    });
  });

  describe('change', () => {
    it('sets the defined members, removes the undefined ones and returns the new webhook', async () => {
      const webhook = await create({ status: 'disabled', disabledAt: now, disabledReason: 'paused', quickSince: now });
      const change = {
        status: 'enabled',
        disabledAt: undefined,
        disabledReason: undefined,
        updatedAt: now + 1,
      } as const;
      const expected = { ...webhook, ...change };
      expect(recordOf(await store.change(webhook, change))).toEqual(expected);
      expect(await stored(webhook)).toEqual(expected);
      expect(Object.keys((await stored(webhook)) ?? {})).not.toContain('disabledAt');
    });

    it('keeps concurrent changes', async () => {
      const webhook = await create();
      await store.change(webhook, { url: 'https://other.example/' });
      const changed = await store.change(webhook, { description: 'Mine' });
      expect(changed).toMatchObject({ url: 'https://other.example/', description: 'Mine' });
    });

    it('is undefined and changes nothing if the status has changed', async () => {
      const webhook = await create();
      await store.change(webhook, { status: 'disabled' });
      const before = await stored(webhook);
      expect(await store.change(webhook, { description: 'Mine' })).toBeUndefined();
      expect(await stored(webhook)).toEqual(before);
    });

    it('writes nothing if the secret was replaced concurrently, and otherwise all', async () => {
      const webhook = await create();
      const [first, second] = [companion(table), companion(table)];
      const change = { secret: 'fresh', previousSecrets: [{ secret: 'secret', until: now + 1 }], updatedAt: now };
      expect(recordOf(await store.change(webhook, change, first.also))).toEqual({ ...webhook, ...change });
      expect(await store.change(webhook, { secret: 'third' }, second.also)).toBeUndefined();
      expect(await stored(webhook)).toEqual({ ...webhook, ...change });
      expect([await first.isWritten(), await second.isWritten()]).toEqual([true, false]);
    });

    it('is undefined and creates no webhook if it was deleted', async () => {
      const webhook = await create();
      await store.remove(webhook, webhook.id);
      expect(await store.change(webhook, { description: 'Mine' })).toBeUndefined();
      expect(await store.get(webhook, webhook.id)).toBeUndefined();
    });

    it('returns the changed webhook if it is deleted right afterwards', async () => {
      const webhook = await create();
      const deleting: typeof table = {
        ...table,
        async write(writes) {
          const rejected = await table.write(writes);
          await store.remove(webhook, webhook.id);
          return rejected;
        },
      };
      const changed = await webhooks(deleting).change(webhook, { description: 'Mine' });
      expect(changed).toMatchObject({ id: webhook.id, description: 'Mine' });
    });

    it.each([
      { status: 'disabled', disabledAt: now },
      { description: 'Mine' },
    ] as const)('to %o returns the webhook as it is then if the response was lost', async (change) => {
      const webhook = await create();
      expect(recordOf(await webhooks(lossy).change(webhook, change))).toEqual({ ...webhook, ...change });
    });
  });

  describe('remove', () => {
    it('removes and counts once', async () => {
      const space = newSpace();
      const [webhook] = await fill(space, 2);
      const id = webhook?.id ?? '';
      expect(await store.remove(space, id)).toBe(true);
      expect(await store.remove(space, id)).toBe(false);
      expect(await store.get(space, id)).toBeUndefined();
      expect(await counted(space)).toBe(1);
    });
  });
});
