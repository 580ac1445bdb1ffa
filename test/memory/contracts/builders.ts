import { randomBytes, randomUUID } from 'node:crypto';
import type { Attempt } from '../../../lib/deliveries/attempt.ts';
import type { Verdict } from '../../../lib/deliveries/decide.ts';
import { type DeliveryMessage, firstMessage } from '../../../lib/deliveries/messages.ts';
import type { ConnectionRecord } from '../../../lib/documents/connections.ts';
import { sampleData } from '../../../lib/events/data.ts';
import { newEvent, type StoredEvent } from '../../../lib/events/event.ts';
import { type IdPrefix, sortableId } from '../../../lib/ids.ts';
import { generateKey, type KeyRecord } from '../../../lib/keys/key.ts';
import type { ProjectRecord } from '../../../lib/projects/project.ts';
import type { Space } from '../../../lib/space.ts';
import type { WebhookRecord } from '../../../lib/webhooks/webhook.ts';
import { attempt, webhook } from '../../unit/deliveries/builders.ts';

/** The time of all events in these tests. */
export const now = Date.parse('2026-01-31T12:00:00.000Z');
export const HOUR_MS = 60 * 60 * 1000;
export const DAY_MS = 24 * HOUR_MS;

/** A unique space, so that tests are independent. */
export const newSpace = (): Space => ({ projectId: `prj_${randomUUID()}`, environment: 'live' });
export const newId = (prefix: IdPrefix, atMs = now): string => sortableId(prefix, atMs, randomBytes);

export const newProject = (overrides: Partial<ProjectRecord> = {}): ProjectRecord => ({
  id: newSpace().projectId,
  name: 'Project',
  emails: ['operator@example.com'],
  cursorSecret: 'secret',
  createdAt: now,
  ...overrides,
});

export function newKey({ type = 'admin', createdAt = now, ...overrides }: Partial<KeyRecord> = {}): KeyRecord {
  const { projectId } = newSpace();
  return generateKey({ projectId, type, name: null, ...overrides }, createdAt, randomBytes).record;
}

export const newWebhook = (overrides: Partial<WebhookRecord> = {}): WebhookRecord =>
  webhook({ ...newSpace(), id: newId('whk', overrides.createdAt), ...overrides });

export function newStoredEvent({ at = now, ...overrides }: Partial<StoredEvent> = {}): StoredEvent {
  const { type = 'document.deleted', documentKey: document_key, ...rest } = overrides;
  const data = { ...sampleData(type, at), ...(document_key !== undefined && { document_key }) };
  return { ...newEvent({ ...newSpace(), at, type, data }, randomBytes), ...rest };
}

/** Creates an event for one webhook, with the messages of its attempts. */
export function newDelivery(of: Partial<WebhookRecord> = {}, at = now) {
  const own = newWebhook(of);
  const { projectId, environment } = own;
  const event = newStoredEvent({ projectId, environment, at });
  const message = (overrides: Partial<DeliveryMessage> = {}): DeliveryMessage => ({
    ...firstMessage(own, own.id, event.id),
    ...overrides,
  });
  return { webhook: own, event, message };
}

/** The attempt of a message, with the response 500. */
export const attemptOf = ({ attempt: number, trigger }: DeliveryMessage, overrides: Partial<Attempt> = {}): Attempt =>
  attempt({ number, trigger, at: now, ...overrides });

export const retrying: Verdict = { status: 'retrying', delaySeconds: 60, dueAt: now + 60_000 };
export const succeeded: Verdict = { status: 'succeeded' };
export const failed: Verdict = { status: 'failed' };

export const newConnection = (overrides: Partial<ConnectionRecord> = {}): ConnectionRecord => ({
  ...newSpace(),
  id: 'connection',
  owner: 'key_1',
  nodeId: 'node',
  leaseSeconds: 300,
  connectedAt: now,
  lastSeenAt: now,
  expiresAt: now + 300_000,
  checkAt: now + 300_000,
  ...overrides,
});

/** Returns a record without the members that only the table adds. */
export function recordOf<Stored extends object>(stored: Stored | undefined): Stored | undefined {
  if (!stored) return undefined;
  const { pk: _, sk: __, keysOf: ___, expires: ____, byStatus: _____, ...rest } = stored as Record<string, unknown>;
  return rest as Stored;
}

/** Follows a list to its end. */
export async function walk<Entry>(
  page: (after: string | undefined) => Promise<{ entries: Entry[]; next: string | undefined }>,
): Promise<{ entries: Entry[]; pages: Entry[][] }> {
  const pages: Entry[][] = [];
  for (let after: string | undefined; ; ) {
    const { entries, next } = await page(after);
    pages.push(entries);
    if (next === undefined) return { entries: pages.flat(), pages };
    after = next;
  }
}
