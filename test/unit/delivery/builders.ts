import type { Attempt } from '../../../lib/deliveries/attempt.ts';
import type { DeliverDeps, DeliveryContext } from '../../../lib/deliveries/deliver.ts';
import { type DeliveryMessage, firstMessage } from '../../../lib/deliveries/messages.ts';
import type { OutageEmail } from '../../../lib/deliveries/outage.ts';
import type { DeliveryRecord } from '../../../lib/deliveries/record.ts';
import { newEvent, type StoredEvent } from '../../../lib/events/event.ts';
import { sampleData } from '../../../lib/events/samples.ts';
import type { WebhookRecord } from '../../../lib/webhooks/webhook.ts';

/** The time of all events in these tests. */
export const now = Date.parse('2026-01-31T12:00:00.000Z');
export const space = { projectId: 'prj_1', environment: 'live' } as const;

/** An enabled webhook that is not in the quick lane. */
export const webhook = (overrides: Partial<WebhookRecord> = {}): WebhookRecord => ({
  ...space,
  id: 'whk_1',
  url: 'https://example.com/',
  events: ['document.deleted'],
  description: null,
  secret: 'secret',
  status: 'enabled',
  createdAt: now,
  updatedAt: now,
  ...overrides,
});

export const event = (overrides: Partial<StoredEvent> = {}): StoredEvent => ({
  ...newEvent({ ...space, id: 'evt_1', at: now, type: 'document.deleted', data: sampleData('document.deleted', now) }),
  ...overrides,
});

/** A delivery whose first attempt failed. */
export const record = (overrides: Partial<DeliveryRecord> = {}): DeliveryRecord => ({
  webhookId: 'whk_1',
  eventId: 'evt_1',
  eventType: 'document.deleted',
  status: 'retrying',
  run: 0,
  attempt: 1,
  attempts: [],
  createdAt: now,
  ...overrides,
});

/** An attempt with the response 500 after 10 ms. */
export const attempt = (overrides: Partial<Attempt> = {}): Attempt => ({
  number: 1,
  trigger: 'schedule',
  at: now,
  statusCode: 500,
  error: 'status_not_2xx',
  durationMs: 10,
  excerpt: null,
  ...overrides,
});

export const message = (overrides: Partial<DeliveryMessage> = {}): DeliveryMessage => ({
  ...firstMessage(space, 'whk_1', 'evt_1'),
  ...overrides,
});

/** The records that a message refers to. */
export const referred = (overrides: Partial<DeliveryContext> = {}): DeliveryContext => ({
  webhook: webhook(),
  event: event(),
  delivery: undefined,
  ...overrides,
});

const EMAIL_STEPS = ['claim', 'release', 'markSent', 'send'] as const;
type EmailStep = (typeof EMAIL_STEPS)[number];
type EmailName = 'disabledEmail' | 'warningEmail' | 'overloadEmail';
type EmailOverrides<Name extends string> = { [Step in EmailStep as `${Name}.${Step}`]?: OutageEmail[Step] };
/** Members of `DeliverDeps`, those of emails by their path: `disabledEmail.claim`. */
export type DeliverOverrides = Partial<Omit<DeliverDeps, EmailName>> & EmailOverrides<EmailName>;

/** A deliverer that records its calls in order. */
export function deliverer(overrides: DeliverOverrides = {}) {
  const done: string[] = [];
  const noting =
    <Result>(name: string, result: Result) =>
    async () => {
      done.push(name);
      return result;
    };
  const emailOf = (name: EmailName) => {
    const steps = EMAIL_STEPS.map((step) => [
      step,
      overrides[`${name}.${step}`] ?? noting(`${name}.${step}`, step === 'claim' ? 'claimed' : undefined),
    ]);
    return Object.fromEntries(steps) as OutageEmail;
  };
  const deps: DeliverDeps = {
    lane: 'slow',
    clock: () => now,
    post: noting('post', { statusCode: 200, error: null, durationMs: 10, waitedMs: 10, excerpt: null }),
    retry: noting('retry', undefined),
    defer: noting('defer', undefined),
    takeSlot: noting('takeSlot', null),
    delay: noting('delay', undefined),
    suspect: noting('suspect', true),
    setPace: noting('setPace', undefined),
    warn: (name) => void done.push(name),
    record: noting('record', true),
    markRetried: noting('markRetried', undefined),
    exhaust: noting('exhaust', { isRecorded: true, isEmailPending: true }),
    end: noting('end', undefined),
    beginOutage: noting('beginOutage', undefined),
    endOutage: noting('endOutage', undefined),
    endOverload: noting('endOverload', undefined),
    disabledEmail: emailOf('disabledEmail'),
    warningEmail: emailOf('warningEmail'),
    overloadEmail: emailOf('overloadEmail'),
    ...overrides,
  };
  return { done, deps };
}
