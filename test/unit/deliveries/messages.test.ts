import { describe, expect, it } from 'vitest';
import {
  attemptName,
  carriedEvent,
  type DeliveryMessage,
  groupOf,
  nextMessage,
  parseMessage,
  type QueueMessage,
  type RecoverMessage,
  type SpreadMessage,
  toCarry,
} from '../../../lib/deliveries/messages.ts';
import { MAX_ATTEMPTS } from '../../../lib/deliveries/retry-schedule.ts';
import { derivedFrom, sortableId } from '../../../lib/ids.ts';
import { event, message, now, space } from './builders.ts';

const recover = (overrides: Partial<RecoverMessage['recover']> = {}): RecoverMessage => ({
  recover: { ...space, webhookId: 'whk_1', recoveryId: 'rec_1', page: 0, ...overrides },
});

const spread = (overrides: Partial<SpreadMessage['spread']> = {}): SpreadMessage => ({
  spread: { ...space, eventId: 'evt_1', to: 'new', webhookIds: ['whk_1', 'whk_2'], ...overrides },
});

describe('a message of the deliveries queue', () => {
  it.each<[string, QueueMessage]>([
    ['a first attempt', message()],
    ['the last attempt of a redelivery', message({ run: 7, attempt: MAX_ATTEMPTS, trigger: 'redelivery' })],
    ['a first attempt with its event', message({ event: toCarry(event()) })],
    ['the first page of a recovery', recover()],
    ['a part of an event with many webhooks', spread()],
    ['disabled webhooks of an event', spread({ to: 'paused', event: toCarry(event()) })],
    ['the next page of a recovery', recover({ page: 1 })],
    ['a delivery of a recovery', message({ run: 1, trigger: 'recovery', recovery: 'rec_1' })],
  ])('arrives unchanged: %s', (_, sent) => {
    expect(parseMessage(JSON.stringify(sent))).toEqual(sent);
  });

  it.each<[string, object]>([
    ['an unknown member', { ...message(), url: 'https://example.com' }],
    ['an attempt after the last', message({ attempt: MAX_ATTEMPTS + 1 })],
    ['a part without webhooks', spread({ webhookIds: [] })],
    ['a page before the first', recover({ page: -1 })],
    ['a delivery and a recovery at once', { ...message(), ...recover() }],
  ])('is rejected with %s', (_, sent) => {
    expect(parseMessage(JSON.stringify(sent))).toBeNull();
  });

  it.each<[string, QueueMessage]>([
    ['a delivery', message()],
    ['a delivery to another webhook', message({ webhookId: 'whk_2' })],
    ['a recovery', recover()],
    ['a part of an event', spread()],
  ])('has the fair-queue group of its project and environment: %s', (_, each) => {
    expect(groupOf(each)).toBe('prj_1#live');
  });

  it('has another group in the sandbox', () => {
    expect(groupOf(message({ environment: 'sandbox' }))).toBe('prj_1#sandbox');
  });

  it.each(['', '{}'])('is rejected if it is %j', (text) => {
    expect(parseMessage(text)).toBeNull();
  });
});

describe('the name of an attempt', () => {
  const webhookId = sortableId('whk', now, derivedFrom('webhook'));
  const eventId = sortableId('evt', now, derivedFrom('event'));
  const attempt = message({ webhookId, eventId });

  it('is the same for every copy of a message, in every release', () => {
    const third = message({ webhookId: 'whk_A', eventId: 'evt_B', run: 3, attempt: 4 });
    for (const trigger of ['schedule', 'recovery'] as const) expect(attemptName({ ...third, trigger })).toBe('A-B-3-4');
  });

  it('fits a schedule: at most 64 of A-Za-z0-9._-', () => {
    expect(attemptName({ ...attempt, run: 99_999_999, attempt: MAX_ATTEMPTS })).toMatch(/^[A-Za-z0-9._-]{1,64}$/);
  });
});

describe('an event in its message', () => {
  it.each<[string, Partial<ReturnType<typeof event>>]>([
    ['a document', {}],
    ['no document', { documentKey: undefined }],
    ['a test', { webhookId: 'whk_1' }],
  ])('%s has the same bytes as the stored event', (_, overrides) => {
    const sent = parseMessage(JSON.stringify(message({ event: toCarry(event(overrides)) }))) as DeliveryMessage;
    expect(carriedEvent(sent)).toEqual(event(overrides));
  });

  it('is included if it is small, so that ten messages cost one SQS request', () => {
    for (const [length, isCarried] of [
      [2048, true],
      [2049, false],
    ] as const) {
      const body = `"${'"'.repeat(length - 2)}"`;
      const sent = message({ event: toCarry(event({ body })) });
      expect([length, carriedEvent(sent) !== undefined]).toEqual([length, isCarried]);
      expect(10 * Buffer.byteLength(JSON.stringify(sent))).toBeLessThan(64 * 1024);
    }
  });

  it('is omitted from the next attempt, whose schedule contains only references', () => {
    expect(nextMessage(message({ event: toCarry(event()) }))).toEqual(message({ attempt: 2 }));
  });
});
