import { expect, it } from 'vitest';
import type { DeliveryRecord } from '../../../lib/deliveries/record.ts';
import type { RecoveryWindow } from '../../../lib/delivery/redelivery.ts';
import { EVENT_RETENTION_MS, type StoredEvent } from '../../../lib/events/events.ts';
import { type DeliveriesDeps, deliveryHandlers } from '../../../lib/handlers/deliveries.ts';
import type { WebhookRecord } from '../../../lib/webhooks/webhooks.ts';
import { attempt, event, now, record, webhook } from '../delivery/builders.ts';

const path = { id: 'whk_1', event_id: 'evt_1' };
const space = { projectId: 'prj_1', environment: 'live' };

/** Handlers with one webhook, one delivery and, unless it expired, its event. They record their effects. */
function handlers(
  { delivery, found }: { delivery: DeliveryRecord; found: StoredEvent | undefined },
  hook: Partial<WebhookRecord> = {},
) {
  const effects: string[] = [];
  const windows: RecoveryWindow[] = [];
  const messages: unknown[] = [];
  const deps = {
    webhooks: { get: async () => webhook(hook) },
    events: { get: async () => found },
    deliveries: {
      get: async () => delivery,
      startRun: async () => void effects.push('start'),
      countRecoverable: async (_: string, window: RecoveryWindow) => windows.push(window),
    },
    enqueue: async (sent: unknown[]) => {
      effects.push('enqueue');
      messages.push(...sent);
    },
    clock: () => now,
  } as unknown as DeliveriesDeps;
  return { effects, windows, messages, ...deliveryHandlers(deps) };
}

it('redelivers an event that is still stored', async () => {
  const { effects, redeliver } = handlers({ delivery: record({ status: 'failed' }), found: event() });
  expect(await redeliver({ path, space } as never, () => [], undefined)).toMatchObject({ body: { status: 'pending' } });
  expect(effects).toEqual(['enqueue', 'start']);
});

it('returns not_found for the redelivery of an expired event and starts no run', async () => {
  const { effects, redeliver } = handlers({ delivery: record({ status: 'failed' }), found: undefined });
  expect(await redeliver({ path, space } as never, () => [], undefined)).toMatchObject({ code: 'not_found' });
  expect(effects).toEqual([]);
});

it('returns a redelivery without the content of earlier attempts, so that the response fits its transaction', async () => {
  const attempts = Array.from({ length: 30 }, () => attempt({ excerpt: 'x'.repeat(1024) }));
  const { redeliver } = handlers({ delivery: record({ status: 'failed', attempts }), found: event() });
  let stored = '';
  const store = (response: object) => {
    stored = JSON.stringify(response);
    return [];
  };
  await redeliver({ path, space } as never, store, undefined);
  expect(stored.length).toBeGreaterThan(1000);
  expect(stored.length).toBeLessThan(20_000);
});

it('excludes expired events from a recovery', async () => {
  const { windows, countRecovery } = handlers({ delivery: record(), found: undefined });
  for (const since of [undefined, 0, now - 1]) {
    await countRecovery({ path, space, query: { since } } as never, () => [], undefined);
  }
  const oldest = now - EVENT_RETENTION_MS;
  expect(windows.map(({ since }) => since)).toEqual([oldest, oldest, now - 1]);
});

it.each([
  [{}, {}, 50],
  [{ per_second: 100 }, { maxPerSecond: 20 }, 20],
  [{ per_second: 10 }, { maxPerSecond: 20 }, 10],
])('paces a recovery with %j for a webhook with %j at %d deliveries per second', async (body, hook, perSecond) => {
  const { messages, recover } = handlers({ delivery: record(), found: event() }, hook);
  await recover({ path, space, body } as never, () => [], undefined);
  expect(messages).toMatchObject([{ recover: { perSecond } }]);
});
