import { describe, expect, it } from 'vitest';
import { isPresent, remove } from '../../../lib/aws/expressions.ts';
import { itemKey } from '../../../lib/aws/items.ts';
import { endpoints } from '../../../lib/deliveries/endpoint-store.ts';
import type { Lane } from '../../../lib/deliveries/lanes.ts';
import type { WebhookRecord } from '../../../lib/webhooks/webhook.ts';
import { recordOf, retrying } from '../../memory/contracts/builders.ts';
import { attempt, event, message, now, space, webhook } from './builders.ts';
import { laneFunction, lasts, responds } from './lane.ts';

const refused = new Error('MessageRejected');

async function failingLane(of: Parameters<typeof laneFunction>[0] = {}) {
  const own = await laneFunction(of);
  own.answer = responds(500);
  return own;
}

/** A queue of more than an hour. */
const far = { maxPerSecond: 2, usedUntil: now + 5000, bookedUntil: now + 3600_001 };

it.each<[string, Partial<WebhookRecord>, Lane, ReturnType<typeof responds>]>([
  ['a success without an outage', {}, 'quick', responds(200)],
  ['a failure in an outage', { failingSince: now - 1 }, 'quick', responds(500)],
  ['an overdue attempt of a slow endpoint', { quickSince: undefined, slowUntil: now + 1 }, 'slow', lasts(1200)],
  ['a skipped delivery in an overload', { maxPerSecond: 2, overloadedAt: now - 1 }, 'quick', responds(200)],
])('%s does not write to the webhook', async (_, of, lane, answer) => {
  const own = await laneFunction(of, { lane });
  const written: string[] = [];
  own.answer = answer;
  own.fault = ({ name, input }) => void (name === 'Update' && written.push(input.Key.pk));
  await own.book(far);
  await own.run(message());
  expect(written).not.toContain(itemKey.webhook(space, 'whk_1').pk);
});

describe('an outage', () => {
  it('has one start and one end in a batch with failed and successful attempts', async () => {
    const own = await failingLane({ undeliveredSince: now - 1 });
    const notes: string[] = [];
    own.fault = ({ name, input }) => {
      const expression = String(input.UpdateExpression);
      if (name === 'Update' && expression.includes('#failingSince'))
        notes.push(/REMOVE.*#failingSince/.test(expression) ? 'end' : 'start');
    };
    const ids = ['evt_1', 'evt_2', 'evt_3', 'evt_4'];
    own.answer = (post, watch) => responds(own.posts.indexOf(post) < 2 ? 200 : 500)(post, watch);
    for (const id of ids.slice(1)) await own.publish(event({ id }));
    expect(await own.run(...ids.map((eventId) => message({ eventId })))).toEqual([]);
    expect(notes.sort()).toEqual(['end', 'start']);
  });

  it('is noted by the next attempt of a batch if its note failed, so that only one attempt is repeated', async () => {
    const own = await failingLane();
    let notes = 0;
    own.fault = ({ name, input }) => {
      const isNote = name === 'Update' && String(input.UpdateExpression).includes('#failingSince');
      if (isNote && ++notes === 1) throw refused;
    };
    own.answer = async (post, watch) => {
      for (let i = own.posts.indexOf(post) * 10; i > 0; i--) await new Promise(setImmediate);
      return responds(500)(post, watch);
    };
    await own.publish(event({ id: 'evt_2' }));
    expect(await own.run(message(), message({ eventId: 'evt_2' }))).toEqual([0]);
  });

  it('has a start again after its end, in the same function', async () => {
    const own = await failingLane();
    const starts: (number | undefined)[] = [];
    for (const [i, status] of [500, 200, 500].entries()) {
      own.time = now + i * 1000;
      own.answer = responds(status);
      await own.publish(event({ id: `evt_${i + 2}` }));
      await own.run(message({ eventId: `evt_${i + 2}` }));
      starts.push((await own.hook())?.failingSince);
    }
    expect(starts).toEqual([now, undefined, now + 2000]);
  });

  it('has a start at each endpoint of a batch', async () => {
    const own = await failingLane();
    await own.add(webhook({ id: 'whk_2', quickSince: now }));
    await own.run(message(), message({ webhookId: 'whk_2' }));
    expect([await own.hook(), await own.hook('whk_2')]).toMatchObject([{ failingSince: now }, { failingSince: now }]);
  });

  it('is not ended by a success that started before it', async () => {
    const own = await laneFunction({ undeliveredSince: now - 1 });
    own.answer = async (...args) => {
      own.time = now + 2000;
      await endpoints(own.table).beginOutage(webhook(), now + 1);
      return responds(200)(...args);
    };
    await own.run(message());
    expect((await own.hook())?.failingSince).toBe(now + 1);
  });

  it('is neither ended nor started by a redelivered test event, which has one attempt', async () => {
    for (const [status, failingSince] of [
      [200, now - 1],
      [500, undefined],
    ] as const) {
      const own = await laneFunction({ failingSince, undeliveredSince: failingSince });
      own.answer = responds(status);
      await own.publish(event({ webhookId: 'whk_1', id: 'evt_2' }));
      expect(await own.run(message({ eventId: 'evt_2', trigger: 'redelivery', run: 1 }))).toEqual([]);
      expect(recordOf(await own.hook())).toEqual(
        webhook({ quickSince: now - 1, failingSince, undeliveredSince: failingSince }),
      );
      expect([own.posts[0]?.headers['X-Service-Test'], own.sent()]).toEqual(['true', []]);
    }
  });
});

it.each([3, 5])('no email is sent after failed attempt %i', async (attempt) => {
  const own = await failingLane();
  await own.run(message({ attempt }));
  expect([own.posts.length, own.emails()]).toEqual([1, []]);
});

describe.each([
  ['a warning', 4, 'failing', 'Webhook failing', 'warnedAt'],
  ['the email about a disabled webhook', 6, 'disabled', 'Webhook disabled', 'emailedAt'],
] as const)('%s', (_, number, what, subject, sentAt) => {
  it(`is sent once, after failed attempt ${number}, and lists the attempts of its run`, async () => {
    const own = await failingLane();
    for (const earlier of [1, 2]) await own.record(earlier, retrying, { run: 0 });
    for (let earlier = 1; earlier < number; earlier++) await own.record(earlier, retrying, { run: 1 });
    expect(await own.run(message({ attempt: number, run: 1 }))).toEqual([]);
    expect(own.emails()).toEqual([{ subject: expect.stringContaining(subject), text: expect.any(String) }]);
    expect(own.emails()[0]?.text).toMatch(new RegExp(`Attempts: +${number}\n`));
    expect((await own.hook())?.[sentAt]).toBe(now + 10);
    expect(own.named('delivery.attempted')).toMatchObject([{ disabled: what === 'disabled' }]);
    expect(await own.run(message({ attempt: number, run: 1 }))).toEqual([]);
    expect([own.emails().length, own.posts.length]).toEqual([1, 1]);
  });

  it('is left to the run that is sending it, and its message is received again', async () => {
    const own = await failingLane(what === 'failing' ? { failingSince: now - 1 } : {});
    own.answer = async (...args) => {
      if (what === 'disabled') await own.change({ disabledBy: 'evt_1#0', status: 'disabled' });
      await endpoints(own.table).claimEmail(what, webhook(), message(), now);
      return responds(500)(...args);
    };
    expect(await own.run(message({ attempt: number }))).toEqual([0]);
    expect(await own.run(message({ attempt: number }))).toEqual([0]);
    expect([own.emails(), own.posts.length, own.named('delivery.handling_failed')]).toEqual([[], 1, []]);
    own.time += 61_000; // the other run crashed
    expect(await own.run(message({ attempt: number }))).toEqual([]);
    expect([own.emails().length, own.posts.length]).toEqual([1, 1]);
  });

  it.each([
    ['but not in a summary too', true],
    ['also if its claim and its reservation cannot be released', false],
  ])('is sent again after a failure, %s', async (_, isReleased) => {
    const own = await failingLane();
    let hasFailed = false;
    own.fault = ({ name, input }) => {
      if (name === 'SendEmail') {
        hasFailed = true;
        throw refused;
      }
      const isOfClaim = name === 'Update' && /REMOVE #(warning|emailing)Until/.test(input.UpdateExpression);
      const isOfReservation = hasFailed && name === 'Put' && input.Item.pk === itemKey.emails(space.projectId).pk;
      if (!isReleased && (isOfClaim || isOfReservation)) throw new Error('throttled');
    };
    expect(await own.run(message({ attempt: number }))).toEqual([0]);
    expect(own.named('delivery.handling_failed')).toMatchObject([{ error: refused }]);
    own.fault = () => {};
    own.time += isReleased ? 0 : 61_000;
    expect(await own.run(message({ attempt: number }))).toEqual([]);
    expect([own.emails().length, own.posts.length]).toEqual([1, 1]);
    expect(await own.reserved()).toHaveLength(isReleased ? 0 : 1);
  });
});

describe('the sixth failure', () => {
  it('disables the webhook of a project that was deleted, without an email', async () => {
    const own = await failingLane();
    await own.table.write([remove(itemKey.project(space.projectId), isPresent('id'))]);
    expect(await own.run(message({ attempt: 6 }))).toEqual([]);
    expect([own.emails(), (await own.hook())?.status]).toEqual([[], 'disabled']);
  });

  it('sends no email if another delivery disabled the webhook', async () => {
    const own = await failingLane();
    own.answer = async (...args) => {
      await own.change({ status: 'disabled', disabledBy: 'evt_2#0' });
      return responds(500)(...args);
    };
    await own.run(message({ attempt: 6 }));
    expect([own.emails(), (await own.hook())?.disabledBy]).toEqual([[], 'evt_2#0']);
    expect(own.named('delivery.attempted')).toMatchObject([{ status: 'failed', disabled: false }]);
  });

  it('is not counted again after another run has recorded it', async () => {
    const own = await failingLane();
    own.answer = async (...args) => {
      await endpoints(own.table).recordLastFailure(webhook(), message(), event(), attempt({ number: 6 }), now);
      return responds(500)(...args);
    };
    await own.run(message({ attempt: 6 }));
    expect([own.emails().length, (await own.delivery())?.attempts.length]).toEqual([1, 1]);
    expect(own.named('delivery.attempted')).toMatchObject([{ disabled: false }]);
  });
});

describe('the rate limit of a webhook', () => {
  const slot = { at: now + 1500, maxPerSecond: 2 };
  /** A lane with a webhook that has more events than its limit for an hour. */
  async function overloaded(of: Parameters<typeof laneFunction>[0] = {}) {
    const own = await laneFunction({ maxPerSecond: 2, ...of });
    await own.book(far);
    return own;
  }

  it('is checked with one write for all messages of the webhook, which one read loads, and delays those without a token', async () => {
    const own = await laneFunction({ maxPerSecond: 2 });
    const ids = ['evt_1', 'evt_2', 'evt_3', 'evt_4', 'evt_5'];
    for (const id of ids.slice(1)) await own.publish(event({ id }));
    await own.add(webhook({ id: 'whk_2', maxPerSecond: 2, quickSince: now }));
    let [reads, writes] = [0, 0];
    own.fault = ({ name, input }) => {
      if (name === 'BatchGet') reads++;
      if (name === 'Update' && input.Key.pk === 'SLOTS#whk_1') writes++;
    };
    await own.run(...ids.map((eventId) => message({ eventId })), message({ webhookId: 'whk_2' }));
    expect([own.posts.length, reads, writes]).toEqual([4, 1, 1]);
    expect(own.sent()).toMatchObject([
      { lane: 'quick', delaySeconds: 1, body: { eventId: 'evt_4', slot: { at: now + 500, maxPerSecond: 2 } } },
      { lane: 'quick', delaySeconds: 1, body: { eventId: 'evt_5', slot: { at: now + 1000, maxPerSecond: 2 } } },
    ]);
  });

  it.each(['quick', 'slow'] as const)('is not checked before the time of a slot, in the %s lane', async (lane) => {
    const own = await laneFunction({ maxPerSecond: 2, slowUntil: lane === 'slow' ? now + 60_000 : 0 }, { lane });
    const early = message({ trigger: 'recovery', slot: { at: now + 5_400_000, maxPerSecond: 2 } });
    expect(await own.run(early)).toEqual([]);
    expect([own.posts, own.sent()]).toMatchObject([[], [{ lane, delaySeconds: 900, body: early }]]);
    expect(own.named('delivery.not_attempted')).toMatchObject([{ reason: 'delay' }]);
  });

  it('does not apply once it is removed, or while the webhook is disabled', async () => {
    const removed = await laneFunction();
    await removed.run(message({ slot }));
    expect(removed.posts).toHaveLength(1);
    const disabled = await laneFunction({ maxPerSecond: 2, status: 'disabled' });
    await disabled.run(message({ slot }));
    expect([disabled.sent(), (await disabled.delivery())?.status]).toEqual([[], 'canceled']);
  });

  it.each([1, 3])('skips attempt %i if it would wait for too long, and the customer gets one email', async (number) => {
    const own = await overloaded();
    if (number > 1) await own.record(number - 1, retrying);
    expect(await own.run(message({ attempt: number }))).toEqual([]);
    expect(await own.delivery()).toMatchObject({
      ...{ status: 'skipped', reason: 'rate_limited', attempt: number - 1, endedAt: now },
    });
    await own.publish(event({ id: 'evt_2' }));
    await own.run(message({ eventId: 'evt_2' }));
    expect([own.emails(), own.posts]).toMatchObject([[{ subject: expect.stringContaining('overloaded') }], []]);
    expect(own.emails()[0]?.text).not.toContain('Attempts:');
    expect(own.named('delivery.not_attempted')).toMatchObject([{ reason: 'overload' }, { reason: 'overload' }]);
  });

  it('skips a recovery later than other deliveries, and a test after a minute without an email', async () => {
    const own = await overloaded();
    const test = { eventId: 'evt_test', trigger: 'redelivery' } as const;
    await own.publish(event({ id: 'evt_test', webhookId: 'whk_1' }));
    await own.run(message({ trigger: 'recovery' }), message(test));
    expect(own.sent()).toMatchObject([
      { delaySeconds: 900, body: { eventId: 'evt_1' } },
      { delaySeconds: 1, body: { eventId: 'evt_test' } },
    ]);
    await own.run(message({ ...test, slot: { at: now - 60_001, maxPerSecond: 2 } }));
    expect([(await own.delivery('evt_test'))?.status, own.emails()]).toEqual(['skipped', []]);
  });

  it('sends the email with the next skipped delivery if it failed, and a summary in case there is none', async () => {
    const own = await overloaded();
    own.fault = ({ name }) => {
      if (name === 'SendEmail') throw refused;
    };
    expect(await own.run(message())).toEqual([0]);
    expect((await own.delivery())?.status).toBe('skipped');
    expect(await own.reserved()).toHaveLength(1);
    own.fault = () => {};
    await own.publish(event({ id: 'evt_2' }));
    expect(await own.run(message(), message({ eventId: 'evt_2' }))).toEqual([]);
    expect([own.emails().length, (await own.delivery('evt_2'))?.status]).toEqual([1, 'skipped']);
  });

  it('ends the overload with an attempt that did not wait, unless it is a test', async () => {
    for (const [given, isOver] of [
      [message(), true],
      [message({ slot: { at: now, maxPerSecond: 2 } }), false],
      [message({ eventId: 'evt_test', trigger: 'redelivery' }), false],
    ] as const) {
      const own = await laneFunction({ maxPerSecond: 2, overloadedAt: now - 1 });
      await own.publish(event({ id: 'evt_test', webhookId: 'whk_1' }));
      await own.run(given);
      expect([own.posts.length, (await own.hook())?.overloadedAt === undefined]).toEqual([1, isOver]);
    }
  });
});
