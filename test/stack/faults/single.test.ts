import { beforeAll, describe, expect, it } from 'vitest';
import type { Fault, ServiceCall } from '../../../infra/local/services/endpoints.ts';
import { EMAIL_WINDOW_MS } from '../../../lib/projects/email-budget.ts';
import { changed } from '../../support/changed.ts';
import { startReceiver, type TestReceiver } from '../../support/receiver.ts';
import { createWebhook, deliveryOf, publish } from '../../support/requests.ts';
import { type Client, eventually, FAST, type Project, type Service, useService } from '../../support/service.ts';

/**
 * Delays of hours and visibility timeouts pass in milliseconds. The SDK retries as in production, so a fault applies to all tries
 * of a call to reach the code of the service.
 */
const OPTIONS = { ...FAST, concurrency: 2 };

/** The default number of tries of the SDK. SES sends the email each time. */
const SDK_TRIES = 3;

/** An email, the two calls that confirm it, the one that marks it as sent, and calls of a concurrent function between them. */
const CALLS_OF_EMAIL = 6;

/** The time for which SQS hides a message after its consumer ended (infra/queues.ts). */
const VISIBILITY_MS = 3 * 60 * 1000;

/**
 * With `FAULT_RUNS`, every fault runs at every call. Otherwise one fault runs at each call, and the simulation covers the
 * rest.
 */
const IS_THOROUGH = process.env.FAULT_RUNS !== undefined;

const KINDS = ['error before', 'error after', 'throttled', 'no answer', 'killed before', 'killed after'] as const;

/** A fault at the n-th call of the fan-out and deliver functions. */
interface Planned {
  at: number;
  kind: (typeof KINDS)[number];
}

/**
 * Runs one event for a failing and a healthy endpoint with a fault, until all work has ended. Checks that nothing is lost. Returns the
 * calls of the fan-out and deliver functions, in order. All tries of a call count once.
 */
type Scenario = (fault?: Planned) => Promise<ServiceCall[]>;

const service = useService(OPTIONS);
let scenario: Scenario;
let clean: ServiceCall[];

beforeAll(async () => {
  scenario = await createScenario(service);
  clean = await scenario();
});

describe('without a fault', () => {
  it('calls every service, and makes each attempt once', () => {
    const actions = new Set(clean.map(({ service, action }) => `${service} ${action}`));
    expect([...actions].sort()).toEqual([
      'dynamodb BatchGetItem',
      'dynamodb GetItem',
      'dynamodb PutItem',
      'dynamodb Query',
      'dynamodb TransactWriteItems',
      'dynamodb UpdateItem',
      'scheduler POST schedules',
      'ses SendEmail',
      'sqs SendMessageBatch',
    ]);
  });
});

describe.each(KINDS)('a call that is %s', (kind) => {
  it('loses no data, for any call', async () => {
    for (const [at, { principal, action }] of clean.entries()) {
      // Tests the first call of each function and action, because later calls run the same code, which the simulation covers in
      // every state. Throttles each action once, because the SDK waits a second between tries.
      const isSame = (call: ServiceCall) =>
        call.action === action && (kind === 'throttled' || call.principal === principal);
      if (clean.findIndex(isSame) !== at) continue;
      if (!IS_THOROUGH && KINDS[at % KINDS.length] !== kind) continue;
      await scenario({ at, kind }).catch((error: Error) => {
        throw new Error(`call ${at} (${action}) ${kind}: ${error.message}`, { cause: error });
      });
    }
  });
});

async function createScenario(service: Service): Promise<Scenario> {
  const project = await service.project();
  const live = await project.client('live');
  const healthy = await startReceiver(200);
  const failing = await startReceiver(500);
  const well = await createWebhook(live, healthy.url);
  const ill = await createWebhook(live, failing.url);

  return async (fault) => {
    service.stack.clock.advance(EMAIL_WINDOW_MS); // so that earlier runs have used no email of the window
    await live('PATCH', `/v1/webhooks/${ill.id}`, { body: { status: 'enabled' } });
    const emailsBefore = emailsTo(service, project).length;
    const recorder = inject(service, fault);
    try {
      const event = await publish(live, changed());
      const eventId = event.body.id;
      await untilSettled(service, live, [well.id, ill.id], eventId);
      recorder.stop();
      await expectNothingLost(live, well.id, ill.id, eventId, { healthy, failing }, fault ? 1 : 0);
      const emails = emailsTo(service, project).slice(emailsBefore);
      expect(emails.length, 'emails').toBeGreaterThanOrEqual(1);
      expect(emails.length, 'emails').toBeLessThanOrEqual(recorder.isFaultNearEmail() ? 1 + SDK_TRIES : 1);
      return recorder.calls;
    } finally {
      recorder.stop();
    }
  };
}

const emailsTo = (service: Service, project: Project) =>
  service.stack.ses.emails.filter(({ to, subject }) => to === project.email && subject.startsWith('Webhook disabled'));

function inject({ stack }: Service, fault: Planned | undefined) {
  const calls: ServiceCall[] = [];
  const known = new Map<string, Fault | undefined>();
  let isNearEmail = false;
  stack.endpoints.intercept = (call) => {
    if (!/FanOut|Deliver/.test(call.principal)) return undefined;
    if (known.has(call.callId)) return known.get(call.callId);
    const kind = fault?.at === calls.length ? fault.kind : undefined;
    calls.push(call);
    if (kind) isNearEmail = calls.slice(-CALLS_OF_EMAIL).some(({ action }) => action === 'SendEmail');
    // The message becomes visible again immediately, and minutes later by the clock.
    if (kind) stack.clock.advance(VISIBILITY_MS);
    if (kind?.startsWith('killed')) kill(call.principal);
    const injected = kind === 'killed before' ? 'error before' : kind === 'killed after' ? 'no answer' : kind;
    known.set(call.callId, injected);
    return injected;
  };
  return {
    calls,
    isFaultNearEmail: () => isNearEmail,
    stop() {
      stack.endpoints.intercept = undefined;
    },
  };

  function kill(principal: string): void {
    for (const fn of stack.functions.values()) if (principal.startsWith(fn.id.slice(0, -8))) fn.killOne();
  }
}

async function untilSettled({ stack }: Service, live: Client, webhookIds: string[], eventId: string): Promise<void> {
  const isIdle = () =>
    [...stack.queues.values()].every((queue) => Object.values(queue.counts()).every((count) => count === 0)) &&
    stack.scheduler.count() === 0 &&
    [...stack.functions.values()].every((fn) => fn.busy === 0);
  await eventually(async () => {
    if (!isIdle()) return false;
    for (const id of webhookIds) {
      const delivery = await deliveryOf(live, id, eventId);
      if (!delivery || delivery.status === 'retrying') return false;
    }
    return isIdle();
  });
}

async function expectNothingLost(
  live: Client,
  wellId: string,
  illId: string,
  eventId: string,
  { healthy, failing }: Record<'healthy' | 'failing', TestReceiver>,
  faults: number,
): Promise<void> {
  const postsTo = ({ received }: TestReceiver) =>
    received
      .filter(({ headers }) => headers['x-service-event-id'] === eventId)
      .map(({ headers }) => headers['x-service-attempt']);
  expect(postsTo(healthy).length, 'posts to the healthy receiver').toBeGreaterThanOrEqual(1);
  expect(postsTo(healthy).length, 'posts to the healthy receiver').toBeLessThanOrEqual(1 + faults);
  expect([...new Set(postsTo(failing))].sort()).toEqual(['1', '2', '3', '4', '5', '6']);
  // A fault before an attempt is recorded repeats that attempt and the others of its batch.
  expect(postsTo(failing).length, 'posts to the failing receiver').toBeLessThanOrEqual(6 + faults);

  const succeeded = await deliveryOf(live, wellId, eventId);
  expect(succeeded).toMatchObject({ status: 'succeeded', attempts: [{ number: 1, status_code: 200 }] });
  const failed = await deliveryOf(live, illId, eventId);
  expect(failed.status).toBe('failed');
  const numbers = failed.attempts.map(({ number }: { number: number }) => number);
  expect(numbers).toEqual([1, 2, 3, 4, 5, 6]);
  expect((await live('GET', `/v1/webhooks/${wellId}`)).body.status).toBe('enabled');
  expect((await live('GET', `/v1/webhooks/${illId}`)).body).toMatchObject({
    status: 'disabled',
    disabled_reason: 'deliveries_failed',
  });
}
