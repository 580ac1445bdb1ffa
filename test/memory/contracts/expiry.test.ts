import { hash, randomBytes } from 'node:crypto';
import { expect, it } from 'vitest';
import { auditEntry } from '../../../lib/audit/store.ts';
import { type ItemKey, itemKey } from '../../../lib/aws/items.ts';
import { firstMessage } from '../../../lib/deliveries/messages.ts';
import { takeSlots } from '../../../lib/deliveries/rate-limit-store.ts';
import { deliveries } from '../../../lib/deliveries/store.ts';
import { connections } from '../../../lib/documents/connection-store.ts';
import { cycles } from '../../../lib/documents/cycle-store.ts';
import { EVENT_RETENTION_MS } from '../../../lib/events/event.ts';
import { eventStore } from '../../../lib/events/store.ts';
import { idempotencyRecords } from '../../../lib/http/idempotency-store.ts';
import { REPLAY_MS } from '../../../lib/http/replay.ts';
import { sortableId } from '../../../lib/ids.ts';
import { attemptOf, DAY_MS, failed, newConnection, newId, newSpace, newStoredEvent, now } from './builders.ts';
import { newStore } from './stores.ts';

const { table } = newStore();
const space = newSpace();
const caller = { projectId: space.projectId, keyId: 'key_1', type: 'live' } as const;
const webhookId = newId('whk');
const [event, other] = [newStoredEvent(), newStoredEvent()];
const delivery = firstMessage(space, webhookId, event.id);
const connection = newConnection();
const change = { ...space, at: now, action: 'key.changed', target: 'key_1' } as const;
const zeros = (size: number) => Buffer.alloc(size);
const requests = Array.from({ length: 12 }, () => ({ isTest: false }));

it.each<[string, () => Promise<unknown>, ItemKey, expires: number]>([
  ['an event', () => eventStore(table).publish([event], []), itemKey.event(event, event.id), now + EVENT_RETENTION_MS],
  [
    'a delivery',
    () => deliveries(table).record(delivery, event, attemptOf(delivery, { at: now + DAY_MS }), failed),
    itemKey.delivery(delivery.webhookId, delivery.eventId),
    now + DAY_MS + EVENT_RETENTION_MS,
  ],
  [
    'a connection: a day after its lease',
    () => connections(table).put(undefined, connection, []),
    itemKey.connection(connection, connection.id),
    connection.expiresAt + DAY_MS,
  ],
  [
    'a cycle',
    () => cycles(table).begin(space, 'syn_1', { owner: 'key_1', namedAt: now }),
    itemKey.sync(space, 'syn_1'),
    now + EVENT_RETENTION_MS,
  ],
  [
    'a completed cycle',
    () => cycles(table).complete(space, 'syn_2', 'key_1', other),
    itemKey.sync(space, 'syn_2'),
    now + EVENT_RETENTION_MS,
  ],
  [
    'a rate limit: a day after its last slot',
    () => takeSlots(table, webhookId, 1, requests, now),
    itemKey.slots(webhookId),
    now + 11_000 + DAY_MS,
  ],
  [
    'an idempotency key',
    () =>
      idempotencyRecords({ table, clock: () => now, random: randomBytes }).begin({ space, caller }, 'key', 'request'),
    itemKey.idempotency(space, hash('sha256', 'key', 'base64url')),
    now + REPLAY_MS,
  ],
  [
    'an entry of the audit log: after 400 days',
    () => table.write([auditEntry(change, zeros)]),
    itemKey.audit(space.projectId, sortableId('aud', now, zeros)),
    now + 400 * DAY_MS,
  ],
])('the table knows when to remove %s', async (_, write, key, expires) => {
  await write();
  expect((await table.get(key))?.expires).toBe(Math.ceil(expires / 1000));
});

it('an entry of the audit log is never replaced', async () => {
  const entry = { ...change, projectId: newSpace().projectId };
  const write = (name: string) => table.write([auditEntry({ ...entry, detail: { name } }, zeros)]);
  expect(await write('first')).toEqual([]);
  expect(await write('second')).toHaveLength(1);
});
