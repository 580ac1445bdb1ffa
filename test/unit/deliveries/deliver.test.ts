import { describe, expect, it } from 'vitest';
import { type ItemKey, itemKey } from '../../../lib/aws/items.ts';
import type { Lane } from '../../../lib/deliveries/lanes.ts';
import { retrying, succeeded } from '../../memory/contracts/builders.ts';
import { VARIABLES } from '../../support/runtime.ts';
import { event, message, now } from './builders.ts';
import { laneFunction, lasts, responds } from './lane.ts';

const throttled = Object.assign(new Error('throttled'), { name: 'ThrottlingException' });

describe('a delivery', () => {
  it.each(['quick', 'new', 'slow'] as const)('queues its retry in the %s lane of its attempt', async (lane) => {
    const own = await laneFunction({ slowUntil: lane === 'slow' ? now + 60_000 : 0 }, { lane });
    own.answer = responds(500);
    await own.run(message({ slot: { at: now, maxPerSecond: 1 } }));
    expect(own.sent()).toEqual([{ lane, group: 'prj_1#live', delaySeconds: 60, body: message({ attempt: 2 }) }]);
    const due = { status: 'retrying', nextAttemptAt: now + 60_010 };
    expect(await own.delivery()).toMatchObject({ ...due, attempts: [{ at: now }] });
    expect((await own.delivery())?.retryPending).toBeUndefined();
  });

  it('schedules later retries to the quick lane', async () => {
    const own = await laneFunction({ slowUntil: now + 60_000 }, { lane: 'slow' });
    own.answer = responds(500);
    await own.run(message({ attempt: 3 }));
    const [{ Name, Target }] = own.scheduled();
    expect([Name, own.sent()]).toEqual(['1-1-0-4', []]);
    const { QueueUrl, MessageGroupId, MessageBody } = JSON.parse(Target.Input);
    expect([QueueUrl, MessageGroupId]).toEqual([VARIABLES.DELIVERIES_QUEUE_URL, 'prj_1#live']);
    expect(JSON.parse(MessageBody)).toEqual(message({ attempt: 4 }));
  });

  it('is received again, without an attempt, after a failure of the function itself', async () => {
    const own = await laneFunction();
    own.answer = () => Promise.reject(new Error('too many open files'));
    expect(await own.run(message())).toEqual([0]);
    expect([await own.delivery(), own.sent(), own.named('delivery.handling_failed').length]).toEqual([
      undefined,
      [],
      1,
    ]);
  });

  it.each([1, 4, 6])('reaches the same state after any call for attempt %i failed once', async (number) => {
    const outcomeOf = async (failing: number) => {
      const own = await laneFunction();
      own.answer = responds(500);
      let calls = 0;
      own.fault = () => {
        if (++calls === failing) throw throttled;
      };
      // The claim of an email ends after a minute.
      for (let receives = 1; (await own.run(message({ attempt: number }))).length > 0; receives++) {
        own.time += 61_000;
        if (receives === 5) throw new Error('The message is received without end');
      }
      const { status, retryPending, attempts } = (await own.delivery()) ?? {};
      const hook = await own.hook();
      const next = [...own.sent().map(({ body }) => body), ...own.scheduled().map(({ Name }) => Name)];
      const { disabledBy, warnedBy, emailedAt, warnedAt, failingSince } = hook ?? {};
      const state = {
        ...{ delivery: [status, retryPending, attempts?.map((each) => each.number)], next: next.at(-1) },
        ...{ webhook: [hook?.status, disabledBy, warnedBy, failingSince !== undefined] },
        ...{ emails: own.emails().at(-1)?.subject, isMarked: (emailedAt ?? warnedAt) !== undefined },
      };
      return { state, calls };
    };
    const { state, calls } = await outcomeOf(0);
    for (let failing = 1; failing <= calls; failing++)
      expect((await outcomeOf(failing)).state, `call ${failing}`).toEqual(state);
    expect(calls).toBeGreaterThan(3);
  });

  it('is not repeated when its pace or the end of an outage or overload cannot be stored', async () => {
    const own = await laneFunction({ undeliveredSince: now - 1, maxPerSecond: 2, overloadedAt: now - 1 });
    own.answer = lasts(900);
    own.fault = ({ name, input }) => {
      if (name === 'Update' && input.Key.pk.startsWith('HOOKS#')) throw throttled;
    };
    expect(await own.run(message())).toEqual([]);
    expect(await own.delivery()).toMatchObject({ status: 'succeeded' });
    const fields = { webhook_id: 'whk_1', error: expect.objectContaining({ cause: throttled }) };
    const notes = own.lines.filter(({ event }) => event.startsWith('webhook.'));
    expect(notes).toEqual(
      ['overload_end', 'pace', 'outage_end', 'pace'].map((what) => ({
        ...{ level: 'warn', event: `webhook.${what}_not_noted`, fields },
      })),
    );
  });

  it('writes one log line', async () => {
    const own = await laneFunction();
    own.answer = responds(500);
    await own.run(message({ run: 1, attempt: 2 }), message({ eventId: 'evt_gone' }));
    const names = { webhook_id: 'whk_1', project_id: 'prj_1', environment: 'live', lane: 'quick' };
    const response = { status_code: 500, error: 'status_not_2xx', error_reason: null };
    const outcome = { status: 'retrying', ...response, duration_ms: 10, waited_ms: 10, disabled: false };
    const fields = { ...names, event_id: 'evt_1', run: 1, attempt: 2, ...outcome };
    const dropped = { ...names, event_id: 'evt_gone', run: 0, attempt: 1, reason: 'drop' };
    expect(own.lines).toHaveLength(2);
    expect(own.lines).toContainEqual({ level: 'warn', event: 'delivery.attempted', fields });
    expect(own.lines).toContainEqual({ level: 'info', event: 'delivery.not_attempted', fields: dropped });
  });
});

describe('the lane of a delivery', () => {
  it.each<[string, object, Lane, Lane | null]>([
    ['an unproven endpoint', { quickSince: undefined }, 'quick', 'new'],
    ['a slow endpoint', { slowUntil: now + 1 }, 'new', 'slow'],
    ['a quick endpoint', {}, 'quick', null],
  ])('of %s (%o) from %s is: %s, and only the last lane takes a token of the rate limit', async (_, pace, lane, slower) => {
    const own = await laneFunction({ maxPerSecond: 1, ...pace }, { lane });
    await own.run(message({ attempt: 3 }));
    expect(own.sent().map(({ lane, body }) => ({ lane, body }))).toEqual(
      slower ? [{ lane: slower, body: message({ attempt: 3 }) }] : [],
    );
    expect(own.posts).toHaveLength(slower ? 0 : 1);
    expect((await own.table.get(itemKey.slots('whk_1'))) === undefined).toBe(slower !== null);
  });

  it.each<[Lane, number, boolean, { isDeferred?: boolean; isSuspected?: boolean; quickSince?: number | undefined }]>([
    ['quick', 300, true, { isSuspected: true }],
    ['quick', 1000, true, { isDeferred: true, isSuspected: true }],
    ['quick', 300, false, { isDeferred: true, isSuspected: true }],
    ['new', 900, true, { quickSince: now + 600_900 }],
    ['new', 1200, false, { quickSince: now + 601_200 }],
  ])('changes from %s after %d ms (first overdue attempt: %s)', async (lane, ms, isFirst, expected) => {
    const own = await laneFunction({}, { lane });
    own.answer = async (...args) => {
      if (!isFirst) await own.change({ slowUntil: now + 6000 });
      return lasts(ms)(...args);
    };
    await own.run(message({ attempt: 2 }));
    const { isDeferred = false, isSuspected = false, quickSince = now - 1 } = expected;
    const hook = await own.hook();
    const again = message({ attempt: 2, requests: 1 });
    expect(own.sent()).toMatchObject(isDeferred ? [{ lane: 'slow', body: again }] : []);
    expect((await own.delivery()) === undefined).toBe(isDeferred);
    expect(own.named('delivery.not_attempted')).toMatchObject(isDeferred ? [{ reason: 'defer' }] : []);
    expect([hook?.quickSince, hook?.slowUntil]).toEqual([quickSince, isSuspected ? now + 6000 : undefined]);
  });

  it('counts its requests, also those of the quick lane, and starts again with the next attempt', async () => {
    const own = await laneFunction({ slowUntil: now + 60_000 }, { lane: 'slow' });
    own.answer = responds(500);
    await own.run(message({ requests: 1 }), message({ eventId: 'evt_2' }));
    expect((await own.delivery())?.attempts).toMatchObject([{ number: 1, requests: 2 }]);
    expect(own.sent()[0]?.body).toEqual(message({ attempt: 2 }));
    await own.run(message({ attempt: 2 }));
    expect((await own.delivery())?.attempts).toMatchObject([{ requests: 2 }, { requests: 1 }]);
  });

  it('stays quick after a long attempt in which the function had too little CPU and did not wait', async () => {
    const own = await laneFunction();
    own.answer = async () => ({ statusCode: 200, error: null, durationMs: 4000, waitedMs: 10, excerpt: null });
    await own.run(message());
    expect((await own.hook())?.slowUntil).toBeUndefined();
    own.answer = async () => ({ statusCode: null, error: 'timeout', durationMs: 4000, waitedMs: 3900, excerpt: null });
    await own.run(message({ run: 1 }));
    expect((await own.hook())?.slowUntil).toBe(own.time + 600_000);
  });

  it('is left by all overdue attempts of a batch, or by all but the first', async () => {
    const own = await laneFunction();
    own.answer = lasts(900);
    await own.publish(event({ id: 'evt_2' }));
    await own.run(message(), message({ eventId: 'evt_2' }));
    expect([own.sent(), (await own.delivery('evt_2'))?.status]).toEqual([[], 'succeeded']);
  });
});

describe('a message', () => {
  it('is dropped for a deleted webhook, or for an event that expired before the first attempt', async () => {
    const own = await laneFunction();
    await own.run(message({ eventId: 'evt_2' }), message({ webhookId: 'whk_2' }));
    expect([own.posts, own.sent(), await own.delivery('evt_2')]).toEqual([[], [], undefined]);
    expect(own.named('delivery.not_attempted')).toMatchObject([{ reason: 'drop' }, { reason: 'drop' }]);
  });

  it('ends a run whose event expired', async () => {
    const own = await laneFunction();
    await own.record(1, retrying);
    await own.table.removeAll([itemKey.event(event(), 'evt_1')]);
    await own.run(message({ attempt: 2 }));
    expect([own.posts, await own.delivery()]).toMatchObject([[], { status: 'failed', attempt: 1, endedAt: now }]);
  });

  it('of a full batch is attempted at the same time as the others, so that slow endpoints do not add up', async () => {
    const own = await laneFunction({}, { lane: 'slow' });
    const ids = Array.from({ length: 100 }, (_, i) => `evt_${i + 2}`);
    for (const id of ids) await own.publish(event({ id }));
    const started: number[] = [];
    own.answer = async (...args) => {
      for (let i = 0; i < 1000 && own.posts.length < ids.length; i++) await new Promise(setImmediate);
      started.push(own.posts.length);
      return responds(200)(...args);
    };
    expect(await own.run(...ids.map((eventId) => message({ eventId })))).toEqual([]);
    expect(new Set(started)).toEqual(new Set([ids.length]));
  });

  it('of an unknown format is reported and received again, and the others of its batch are delivered', async () => {
    const own = await laneFunction();
    expect(await own.run('{}', message())).toEqual([0]);
    expect(own.named('delivery.handling_failed')).toMatchObject([{ message_id: '0', receive_count: 1 }]);
    expect(await own.delivery()).toMatchObject({ status: 'succeeded' });
  });

  it('is received again if its webhook cannot be read, and the others of its batch are delivered', async () => {
    const own = await laneFunction();
    own.fault = async ({ name, input }) => {
      if (name !== 'BatchGet') return undefined;
      const keys: ItemKey[] = input.RequestItems.table.Keys;
      const unread = keys.filter(({ sk }) => sk === 'whk_2');
      const items = await own.table.batchGet(keys.filter((key) => !unread.includes(key)));
      return { Responses: { table: items.filter(Boolean) }, UnprocessedKeys: { table: { Keys: unread } } };
    };
    expect(await own.run(message({ webhookId: 'whk_2' }), message())).toEqual([0]);
    expect(await own.delivery()).toMatchObject({ status: 'succeeded' });
  });

  it('is received again if another run recorded its attempt, because that run may have stopped before the retry', async () => {
    const own = await laneFunction();
    own.answer = async (...args) => {
      await own.record(1, retrying);
      return responds(500)(...args);
    };
    expect([await own.run(message()), own.sent()]).toEqual([[0], []]);
    own.time = now + 20_000;
    expect(await own.run(message())).toEqual([]);
    expect(own.sent()).toMatchObject([{ delaySeconds: 40, body: message({ attempt: 2 }) }]);
    expect([own.posts.length, (await own.delivery())?.retryPending]).toEqual([1, undefined]);
  });

  it('is delivered once although it is twice in a batch, after a late copy of an earlier run', async () => {
    const own = await laneFunction();
    await own.record(1, succeeded);
    const redelivery = message({ run: 1, trigger: 'redelivery' });
    expect(await own.run(message(), redelivery, redelivery)).toEqual([]);
    expect([own.posts.length, own.named('delivery.attempted')]).toMatchObject([1, [{ run: 1 }]]);
  });
});
