import { randomBytes } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { itemKey } from '../../../lib/aws/items.ts';
import { auditEntry } from '../../../lib/projects/audit-store.ts';
import { applyChange } from '../../../lib/webhooks/change-handlers.ts';
import { webhooks } from '../../../lib/webhooks/store.ts';
import {
  ChangeWebhook,
  DEFAULT_SETTINGS,
  type WebhookChange,
  type WebhookRecord,
} from '../../../lib/webhooks/webhook.ts';
import { newWebhook } from '../../memory/contracts/builders.ts';
import { memoryBackend } from '../../support/memory-table.ts';

const now = 2000;
const created = { createdAt: 1000, updatedAt: 1000 };
const webhook = newWebhook({ ...created, events: ['document.changed'], maxPerSecond: 9 });

/** Applies a change to a stored webhook. Returns what is stored then, and the detail of the audit entry of the change. */
async function applied(change: WebhookChange, stored = webhook) {
  const backend = memoryBackend({ clock: () => now });
  const store = webhooks(backend.table);
  await store.create(stored, []);
  await applyChange(backend, webhook, webhook.id, change, (entry) =>
    auditEntry({ projectId: webhook.projectId, ...entry }, randomBytes),
  );
  const entry = [...backend.db.items()].find(({ pk }) => String(pk).startsWith('AUDIT#'));
  return { stored: await store.get(webhook, webhook.id), detail: entry?.detail };
}

const key = itemKey.webhook(webhook, webhook.id);
const unproven = { quickSince: undefined, slowUntil: undefined };
const notOverloaded = { overloadedBy: undefined, overloadedAt: undefined, overloadingUntil: undefined };
const proven = { quickSince: 1, slowUntil: 2 };
const overloaded = { overloadedBy: 'evt_1', overloadedAt: 3, overloadingUntil: 4 };

describe('a change of a webhook', () => {
  it.each<[WebhookChange, Partial<WebhookRecord>]>([
    [{ description: 'New' }, { description: 'New' }],
    [{ url: 'https://example.org/' }, { url: 'https://example.org/', ...unproven }], // the audit entry has no URL
    [{ events: ['sync.completed'] }, { events: ['sync.completed'], subscribedAt: now }],
    [{ documents: ['a:*'] }, { documents: ['a:*'], subscribedAt: now }],
    [{ max_per_second: 5 }, { maxPerSecond: 5, ...notOverloaded }],
    [{ max_per_second: null }, { maxPerSecond: undefined, ...notOverloaded }],
  ])('stores and removes only the members that %j affects', async (change, expected) => {
    const detail = { environment: 'live', changed: Object.keys(change) };
    const before = { ...webhook, ...proven, ...overloaded };
    const stored = { ...key, ...before, ...expected, updatedAt: now };
    expect(await applied(change, before)).toEqual({ stored, detail });
  });

  it('forgets the pace of the endpoint when the webhook is enabled', async () => {
    const before = { ...webhook, ...proven, status: 'disabled', disabledReason: 'paused' } as const;
    const { stored } = await applied({ status: 'enabled' }, before);
    expect(stored).toEqual({ ...key, ...webhook, updatedAt: now });
  });

  it.each([
    undefined,
    1500,
  ])('that pauses it keeps the time since which it can have missed events (%s)', async (since) => {
    const before = { ...webhook, ...(since !== undefined && { undeliveredSince: since }) };
    const paused = { status: 'disabled', disabledAt: now, disabledReason: 'paused', undeliveredSince: since ?? now };
    const { stored } = await applied({ status: 'disabled' }, before);
    expect(stored).toEqual({ ...key, ...webhook, ...paused, updatedAt: now });
  });

  it.each(
    Object.keys(ChangeWebhook.entries).filter((name) => DEFAULT_SETTINGS[name] !== undefined),
  )('stores nothing when %s is absent and gets its default', async (name) => {
    const bare = { ...webhook };
    for (const absent of ['documents', 'headers', 'maxPerSecond'] as const) delete bare[absent];
    expect(await applied({ [name]: DEFAULT_SETTINGS[name] }, bare)).toEqual({
      stored: { ...key, ...bare },
      detail: undefined,
    });
  });
});
