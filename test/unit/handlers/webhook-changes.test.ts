import { describe, expect, it } from 'vitest';
import type { Write } from '../../../lib/aws/writes.ts';
import type { AuditedChange } from '../../../lib/projects/audit.ts';
import { applyChange } from '../../../lib/webhooks/changes.ts';
import type { WebhookChange, WebhookRecord } from '../../../lib/webhooks/webhook.ts';
import { requestOf } from './requests.ts';

const now = 2000;
const request = requestOf({ projectId: 'prj_1' }, { body: undefined });
const webhook: WebhookRecord = {
  ...request.space,
  id: 'whk_1',
  url: 'https://example.com/',
  events: ['document.changed'],
  description: null,
  maxPerSecond: 9,
  secret: 'secret',
  status: 'enabled',
  createdAt: 1000,
  updatedAt: 1000,
};

/** Applies a change. Returns what is stored, and the detail of the audit entry. */
async function applied(change: WebhookChange) {
  const found: { stored?: Partial<WebhookRecord>; detail?: object | undefined } = {};
  const webhooks = {
    get: async () => webhook,
    list: () => expect.unreachable(),
    change: async (read: WebhookRecord, stored: Partial<WebhookRecord>) => {
      found.stored = stored;
      return read;
    },
  };
  const audited = ({ detail }: Pick<AuditedChange, 'detail'>) => {
    found.detail = detail;
    return {} as Write;
  };
  await applyChange(request.space, webhook.id, change, { webhooks, clock: () => now, audited });
  return found;
}

const unproven = { quickSince: undefined, slowUntil: undefined };
const notOverloaded = { overloadedBy: undefined, overloadedAt: undefined, overloadingUntil: undefined };

describe('a change of a webhook', () => {
  it.each<[WebhookChange, Partial<WebhookRecord>]>([
    [{ description: 'New' }, { description: 'New' }],
    [{ url: 'https://example.org/' }, { url: 'https://example.org/', ...unproven }],
    [{ events: ['sync.completed'] }, { events: ['sync.completed'], subscribedAt: now }],
    [{ documents: ['a:*'] }, { documents: ['a:*'], subscribedAt: now }],
    [{ max_per_second: 5 }, { maxPerSecond: 5, ...notOverloaded }],
    [{ max_per_second: null }, { maxPerSecond: undefined, ...notOverloaded }],
  ])('stores and removes only the members that %j affects', async (change, expected) => {
    const detail = { environment: 'live', changed: Object.keys(change) };
    expect(await applied(change)).toStrictEqual({ stored: { ...expected, updatedAt: now }, detail });
  });
});
