import { describe, expect, it } from 'vitest';
import { type SpreadMessage, toCarry } from '../../../lib/deliveries/messages.ts';
import { event, message, now, space, webhook } from './builders.ts';
import { laneFunction } from './lane.ts';

const ids = ['whk_1', 'whk_2', 'whk_3'];
const part = (overrides: Partial<SpreadMessage['spread']> = {}): SpreadMessage => ({
  spread: { ...space, eventId: 'evt_1', to: 'new', webhookIds: ids, ...overrides },
});
const throttled = Object.assign(new Error('throttled'), { name: 'ThrottlingException' });

/** The quick lane, with three disabled webhooks. */
async function withWebhooks() {
  const own = await laneFunction({ status: 'disabled' });
  for (const id of ids.slice(1)) await own.add(webhook({ id, status: 'disabled' }));
  const statuses = () => Promise.all(ids.map(async (id) => (await own.log.get(id, 'evt_1'))?.status));
  return { own, statuses };
}

describe('a part of an event with many webhooks', () => {
  it.each(['quick', 'new', 'slow'] as const)('queues the first message of each webhook in the %s lane', async (to) => {
    const { own, statuses } = await withWebhooks();
    const carried = toCarry(event());
    expect(await own.run(part({ to, event: carried }))).toEqual([]);
    const messages = ids.map((webhookId) => message({ webhookId, event: carried }));
    expect(own.sent().map(({ lane, group, body }) => [lane, group, body])).toEqual(
      messages.map((body) => [to, 'prj_1#live', body]),
    );
    expect([await statuses(), own.posts, own.lines]).toEqual([[undefined, undefined, undefined], [], []]);
  });

  it.each([
    ['with its event', 'disabled', toCarry(event())],
    ['without its event, which is large', 'paused', undefined],
  ] as const)('records a skipped delivery for each disabled webhook, with the reason: %s', async (_, to, carried) => {
    const { own, statuses } = await withWebhooks();
    expect(await own.run(part({ to, event: carried }))).toEqual([]);
    expect(await statuses()).toEqual(['skipped', 'skipped', 'skipped']);
    expect(await own.delivery()).toMatchObject({
      eventType: event().type,
      reason: to,
      run: 0,
      attempt: 0,
      endedAt: now,
    });
    expect(own.sent()).toEqual([]);
  });

  it('records nothing for a deleted webhook', async () => {
    const { own } = await withWebhooks();
    expect(await own.run(part({ to: 'disabled', webhookIds: ['whk_deleted', 'whk_2'] }))).toEqual([]);
    expect(await own.log.get('whk_deleted', 'evt_1')).toBeUndefined();
    expect(await own.log.get('whk_2', 'evt_1')).toBeDefined();
  });

  it('changes no delivery that has moved on', async () => {
    const { own, statuses } = await withWebhooks();
    await own.record(1, { status: 'succeeded' });
    await own.run(part({ to: 'disabled' }));
    expect(await statuses()).toEqual(['succeeded', 'skipped', 'skipped']);
  });

  it.each([
    'new',
    'disabled',
  ] as const)('is received again after any of its calls failed (%s), and loses nothing', async (to) => {
    const outcomeOf = async (failing: number) => {
      const { own, statuses } = await withWebhooks();
      let calls = 0;
      own.fault = () => {
        if (++calls === failing) throw throttled;
      };
      const repeated = await own.run(part({ to }));
      if (repeated.length > 0) await own.run(part({ to }));
      const sent = new Set(own.sent().map(({ body }) => JSON.stringify(body)));
      return { state: [await statuses(), sent], calls, repeated };
    };
    const { state, calls } = await outcomeOf(0);
    for (let failing = 1; failing <= calls; failing++) {
      const outcome = await outcomeOf(failing);
      expect([outcome.repeated, outcome.state], `call ${failing}`).toEqual([[0], state]);
    }
    expect(calls).toBeGreaterThan(0);
  });
});
