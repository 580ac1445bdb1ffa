import { marshall } from '@aws-sdk/util-dynamodb';
import type { Context, DynamoDBBatchResponse } from 'aws-lambda';
import { describe, expect, it } from 'vitest';
import { create } from '../../../functions/fan-out.ts';
import { put } from '../../../lib/aws/expressions.ts';
import { itemKey } from '../../../lib/aws/items.ts';
import { fanOut } from '../../../lib/deliveries/fan-out.ts';
import { deliveryLog } from '../../../lib/deliveries/log-store.ts';
import { type DeliveryMessage, type SpreadMessage, toCarry } from '../../../lib/deliveries/messages.ts';
import type { StoredEvent } from '../../../lib/events/event.ts';
import { putEvents } from '../../../lib/events/store.ts';
import { webhooks } from '../../../lib/webhooks/store.ts';
import type { WebhookRecord } from '../../../lib/webhooks/webhook.ts';
import { memoryBackend } from '../../support/memory-table.ts';
import { VARIABLES } from '../../support/runtime.ts';
import { event, message, now, webhook } from './builders.ts';

/** Returns the webhooks of an event by lane, and the skipped ones. */
function goesTo(webhooks: readonly WebhookRecord[], overrides: Partial<StoredEvent> = {}) {
  const { lanes, skipped } = fanOut(event(overrides), webhooks, now);
  const ids = (messages: DeliveryMessage[]) => messages.map(({ webhookId }) => webhookId);
  return {
    ...Object.fromEntries([...lanes].map(([lane, messages]) => [lane, ids(messages as DeliveryMessage[])])),
    ...(skipped.length > 0 && { skipped: ids(skipped.map(({ message }) => message)) }),
  };
}

describe('an event', () => {
  it.each<[string, Partial<WebhookRecord>, object]>([
    ['does not go to a webhook of other types', { events: ['document.created', 'document.changed'] }, {}],
    ['is not recorded for a disabled webhook of other types', { status: 'disabled', events: ['sync.completed'] }, {}],
    ['goes to a webhook created in its millisecond', { createdAt: now }, { new: ['whk_1'] }],
    ['does not go to a webhook created after it', { createdAt: now + 1 }, {}],
    ['goes to a webhook that has since subscribed to other events, too', { subscribedAt: now + 1 }, { new: ['whk_1'] }],
    ['goes to a webhook with a pattern for its document', { documents: ['a', 'org:acme:*'] }, { new: ['whk_1'] }],
    ['does not go to a webhook for other documents', { documents: ['org:acme', 'org:other:*'] }, {}],
  ])('%s', (_, overrides, expected) => {
    expect(goesTo([webhook(overrides)])).toEqual(expected);
  });

  it('goes once to each of many webhooks, in their order within a lane', () => {
    const webhooks = [
      webhook({ id: 'whk_a' }),
      webhook({ id: 'whk_b', quickSince: now }),
      webhook({ id: 'whk_c', status: 'disabled', quickSince: now }),
      webhook({ id: 'whk_d' }),
      webhook({ id: 'whk_e', events: ['sync.conflict'] }),
      webhook({ id: 'whk_f', slowUntil: now + 1 }),
      webhook({ id: 'whk_g', status: 'disabled' }),
    ];
    const expected = { new: ['whk_a', 'whk_d'], quick: ['whk_b'], slow: ['whk_f'], skipped: ['whk_c', 'whk_g'] };
    expect(goesTo(webhooks)).toEqual(expected);
  });

  it.each([
    ...['w:a b', 'w:é', 'w::x', 'w:', 'w:*', `w:${'x'.repeat(65)}`, `w:${'x:'.repeat(15)}x`],
  ])('with %s, which is no document key, goes to webhooks without patterns', (documentKey) => {
    const webhooks = [webhook({ id: 'whk_a', documents: ['w:*', '*'] }), webhook({ id: 'whk_b' })];
    expect(goesTo(webhooks, { documentKey })).toEqual({ new: ['whk_b'] });
  });

  it('without a document goes to webhooks without patterns', () => {
    const webhooks = [webhook({ id: 'whk_a', documents: ['*'] }), webhook({ id: 'whk_b' })];
    expect(goesTo(webhooks, { documentKey: undefined })).toEqual({ new: ['whk_b'] });
  });

  it('is queued or skipped as the first attempt of the first run', () => {
    const paused = webhook({ id: 'whk_3', status: 'disabled', disabledReason: 'paused' });
    const failed = webhook({ id: 'whk_2', status: 'disabled', disabledReason: 'deliveries_failed' });
    const webhooks = [webhook(), failed, paused];
    const { lanes, skipped } = fanOut(event(), webhooks, now);
    const first = { run: 0, attempt: 1, trigger: 'schedule' } as const;
    expect(lanes.get('new')).toEqual([message({ ...first, event: toCarry(event()) })]);
    expect(skipped).toEqual([
      { message: message({ webhookId: 'whk_2', ...first }), reason: 'disabled' },
      { message: message({ webhookId: 'whk_3', ...first }), reason: 'paused' },
    ]);
  });
});

describe('an event with more than ten webhooks', () => {
  const isOf = {
    new: {},
    quick: { quickSince: now },
    slow: { slowUntil: now + 1 },
    disabled: { status: 'disabled' },
    paused: { status: 'disabled', disabledReason: 'paused' },
  };
  /** Webhooks of each kind. */
  const webhooksOf = (counts: Partial<Record<keyof typeof isOf, number>>) =>
    Object.entries(counts).flatMap(([kind, count]) =>
      Array.from({ length: count }, (_, i) => webhook({ id: `${kind}${i}`, ...isOf[kind as 'new'] })),
    );
  const partsOf = (webhooks: readonly WebhookRecord[], of = event()) =>
    (fanOut(of, webhooks, now).lanes.get('quick') ?? []) as SpreadMessage[];

  it('goes to the quick lane in parts of up to ten webhooks, each for one lane or skipped for one reason', () => {
    const webhooks = webhooksOf({ slow: 1, new: 11, disabled: 2, quick: 10, paused: 1 });
    const { lanes, skipped, counts } = fanOut(event(), webhooks, now);
    expect([[...lanes.keys()], skipped, counts]).toEqual([['quick'], [], { deliveries: 22, skipped: 3 }]);
    const parts = partsOf(webhooks).map(({ spread: { to, webhookIds } }) => [to, webhookIds.length]);
    expect(parts).toEqual([
      ['slow', 1],
      ['new', 10],
      ['new', 1],
      ['quick', 10],
      ['disabled', 2],
      ['paused', 1],
    ]);
    const ids = partsOf(webhooks).flatMap(({ spread }) => spread.webhookIds);
    expect(ids.sort()).toEqual(webhooks.map(({ id }) => id).sort());
  });

  it('carries a small event, and parts of a hundred webhooks cost one SQS request', () => {
    const webhooks = webhooksOf({ new: 100 }).map((each, i) => ({ ...each, id: `whk_${String(i).padStart(26, '0')}` }));
    const small = event({ body: `"${'"'.repeat(2046)}"` });
    const parts = partsOf(webhooks, small);
    expect(parts.map(({ spread }) => spread.event)).toEqual(Array(10).fill(toCarry(small)));
    expect(Buffer.byteLength(JSON.stringify(parts))).toBeLessThan(64 * 1024);
    expect(partsOf(webhooks, event({ body: 'x'.repeat(2049) }))[0]?.spread.event).toBeUndefined();
  });

  it('has no parts with ten webhooks', () => {
    const { lanes, skipped } = fanOut(event(), webhooksOf({ quick: 9, disabled: 1 }), now);
    expect([lanes.get('quick')?.length, skipped.length]).toEqual([9, 1]);
    expect(lanes.get('quick')?.every((each) => 'webhookId' in each)).toBe(true);
  });
});

it('a test event goes to its webhook alone, by the new lane, even if it is disabled', () => {
  const webhooks = [webhook(), webhook({ id: 'whk_2', status: 'disabled', quickSince: now })];
  expect(goesTo(webhooks, { webhookId: 'whk_2' })).toEqual({ new: ['whk_2'] });
});

/** The image of a new event in a record of the stream. */
const imageOf = (of: StoredEvent) =>
  marshall((putEvents([of])[0] as { Put: { Item: object } }).Put.Item, { removeUndefinedValues: true });

describe('a batch of events', () => {
  const outage = Object.assign(new Error('denied'), { name: 'AccessDeniedException', $metadata: {} });

  interface Given {
    /** The name of a command that fails, or the sort key of an item that cannot be updated. */
    failing?: string;
    isReplay?: boolean;
    keep?: () => Promise<void>;
    /** How often the same function receives the events. */
    times?: number;
    /** The budget of deliveries. */
    perSecond?: string;
  }
  /** Runs the deployed fan-out with new events, on a table with two enabled webhooks and a disabled one in one space. */
  async function fannedOut(events: readonly (StoredEvent | null)[], given: Given = {}) {
    const { failing, keep = async () => {}, times = 1, perSecond = '1', ...batch } = given;
    const [done, kept, failures]: [string[], unknown[][], string[]] = [[], [], []];
    const counts = {};
    const info = (_: string, fields: object) => void Object.assign(counts, fields);
    const log = { info, warn() {}, error: (name: string) => void failures.push(name) };
    const variables = { ...VARIABLES, DELIVERIES_PER_SECOND: perSecond };
    const { runtime, table } = memoryBackend({ clock: () => now + 1, log, variables }, ({ name, input }) => {
      if (failing === name || (name === 'Update' && failing === input.Key.sk)) throw outage;
      if (name === 'Query') done.push(`read ${input.ExpressionAttributeValues[':pk']}`);
      if (name !== 'SendMessageBatch') return undefined;
      const to = input.Entries.map(({ MessageBody }: { MessageBody: string }) => JSON.parse(MessageBody).webhookId);
      done.push(`send ${to.sort().join(' ')}`);
      return {};
    });
    for (const [id, status] of Object.entries({ whk_1: 'enabled', whk_2: 'enabled', whk_3: 'disabled' } as const))
      await webhooks(table).create(webhook({ id, status }), []);
    await table.write([put({ ...itemKey.project('prj_1') })]);
    const handle = create(runtime, (url) => (...args) => {
      kept.push([url, ...args]);
      return keep();
    });
    const Records = events.map((of, i) => ({
      eventID: String(i),
      dynamodb: {
        SequenceNumber: of?.id ?? 'unreadable',
        Keys: { sk: { S: of?.id ?? 'unreadable' } },
        NewImage: of ? imageOf(of) : { at: { X: '' } },
      },
    }));
    const repeated: string[] = [];
    for (let i = 0; i < times; i++) {
      const response = (await handle({ Records, ...batch } as never, {} as Context)) as DynamoDBBatchResponse;
      repeated.push(...response.batchItemFailures.map(({ itemIdentifier }) => itemIdentifier));
    }
    return {
      repeated,
      done: done.sort(),
      kept,
      failures,
      counts,
      /** The deliveries that were counted. */
      used: (Number((await table.get(itemKey.project('prj_1')))?.deliveriesUsedUntil ?? now + 1) - now - 1) / 1000,
      skipped: await deliveryLog(table).get('whk_3', 'evt_2'),
    };
  }

  it('goes to the webhooks of its space, which are read once, with one request for all messages', async () => {
    const others = [event({ environment: 'sandbox' }), event({ projectId: 'prj_2' })];
    const { repeated, done, counts, skipped } = await fannedOut([event(), event({ id: 'evt_2' }), ...others]);
    const read = ['prj_1#live', 'prj_1#sandbox', 'prj_2#live'].map((space) => `read HOOKS#${space}`);
    expect(done).toEqual([...read, 'send whk_1 whk_1 whk_2 whk_2']);
    expect([repeated, skipped]).toEqual([[], expect.objectContaining({ status: 'skipped', run: 0, endedAt: now + 1 })]);
    expect(counts).toEqual({ events: 4, deliveries: 4, skipped: 2, set_aside: 0 });
  });

  it.each([
    'Query',
    'SendMessageBatch',
    'evt_1',
  ])('is received again, and not counted, during an outage of %s', async (failing) => {
    const { repeated, kept, failures, used } = await fannedOut([event()], { failing, times: 9 });
    const times = (name: string) => Array(9).fill(name);
    expect([repeated, kept, failures, used]).toEqual([times('evt_1'), [], times('event.fan_out_failed'), 0]);
  });

  it.each<[string, Given, number]>([
    ['is counted with its skipped deliveries', {}, 3],
    ['is counted each time that it is sent', { times: 2 }, 6],
    ['is not counted when an operator replays it', { isReplay: true }, 0],
    ['is counted only from a tenth of the budget of a second', { perSecond: '31' }, 0],
    ['is counted together with earlier ones', { perSecond: '40', times: 2 }, 6 / 40],
    ['is not counted while a deployment has not set the budget', { perSecond: '' }, 0],
  ])('%s', async (_, given, expected) => {
    const { used, repeated } = await fannedOut([event()], given);
    expect([used, repeated]).toEqual([expected, []]);
  });

  it('is not received again when it cannot be counted, and then the next batch counts it', async () => {
    const { repeated, failures, used } = await fannedOut([event()], { failing: 'PROJECT', times: 2 });
    expect([repeated, failures, used]).toEqual([[], ['deliveries.not_counted', 'deliveries.not_counted'], 0]);
  });

  it('sets an event aside that fails for another reason, and continues', async () => {
    const { repeated, kept, failures, done, counts } = await fannedOut([null, event()]);
    const record = expect.objectContaining({ eventID: '0' });
    expect(kept).toEqual([[VARIABLES.FAILED_EVENTS_URL, record, expect.any(Error)]]);
    expect([repeated, failures, done.length]).toEqual([[], ['event.set_aside'], 2]);
    expect(counts).toEqual({ events: 1, deliveries: 2, skipped: 1, set_aside: 1 });
  });

  it('is received again until an event can be set aside', async () => {
    const failures = [new Error('bucket')];
    const keep = () => (failures.length > 0 ? Promise.reject(failures.pop()) : Promise.resolve());
    const { repeated, kept } = await fannedOut([null], { keep, times: 2 });
    expect([repeated, kept.length]).toEqual([['unreadable'], 2]);
  });

  it('leaves a replayed event in the bucket if it fails again', async () => {
    const { repeated, kept } = await fannedOut([null], { isReplay: true });
    expect([repeated, kept]).toEqual([['unreadable'], []]);
  });
});
