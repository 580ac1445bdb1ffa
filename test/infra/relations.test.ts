import { LambdaClient } from '@aws-sdk/client-lambda';
import type { Template } from 'aws-cdk-lib/assertions';
import { describe, expect, it, vi } from 'vitest';
import { runCommand, type Shell } from '../../infra/commands/command.ts';
import { IDLE_SECONDS } from '../../infra/commands/replay.ts';
import { DELIVERY_TIMEOUT_MS, LEASE_SECONDS } from '../../infra/commands/smoke/checks.ts';
import { allOperations } from '../../lib/api/operations.ts';
import { RETRIES, TIMEOUT_MS } from '../../lib/aws/failed-events.ts';
import { SETTINGS } from '../../lib/aws/runtime.ts';
import { ATTEMPT_TIMEOUT_MS } from '../../lib/deliveries/attempt.ts';
import { CLAIM_MS } from '../../lib/deliveries/endpoint-store.ts';
import { QUICK_WITHIN_MS, SLOW_AFTER_MS, SUSPECT_AFTER_MS, SUSPECT_FOR_MS } from '../../lib/deliveries/lanes.ts';
import { RECOVERY_DELAY_SECONDS, STALLED_AFTER_MS, STARTING_MS } from '../../lib/deliveries/recovery-record.ts';
import { STUCK_AFTER_MS } from '../../lib/deliveries/recovery-window.ts';
import { MAX_QUEUE_DELAY_SECONDS, RETRY_DELAYS_SECONDS } from '../../lib/deliveries/retry-schedule.ts';
import { MAX_LEASE_SECONDS } from '../../lib/documents/connections.ts';
import { EMAIL_WINDOW_MS, LOST_AFTER_MS } from '../../lib/emails/email-budget.ts';
import { EVENT_RETENTION_MS } from '../../lib/events/event.ts';
import { REPLAY_MS, RUNNING_MS } from '../../lib/http/replay.ts';
import { WORK_MS } from '../../lib/operators/delete-project.ts';
import { SETTLE_MS } from '../../lib/operators/deletion.ts';
import { MAX_REPLICATION_MS } from '../memory/simulation/tables.ts';
import { TABLE } from '../support/dynamodb-table.ts';
import { mappingsOf, resourcesOf } from './resources.ts';
import { everyOption, extremes, synth } from './synth.ts';

const DAY_MS = 24 * 60 * 60 * 1000;
/** The longest delay of a message in SQS (SQS Developer Guide, "Delay queues"). */
const SQS_DELAY_SECONDS = 900;
/** How long API Gateway waits for a function (API Gateway Developer Guide, "Quotas"). */
const GATEWAY_MS = 29_000;

/** The longest time limit of functions in milliseconds, by their name in `functions/`. */
function limitMs(template: Template, isWanted: (name: string) => boolean): number {
  const wanted = resourcesOf(template, 'AWS::Lambda::Function').filter(([, { Environment }]) =>
    isWanted(Environment.Variables.POWERTOOLS_SERVICE_NAME),
  );
  expect(wanted.length).toBeGreaterThan(0);
  return Math.max(...wanted.map(([, { Timeout }]) => Timeout * 1000));
}
/** How a client of AWS stores its time limits in milliseconds. 0: none. */
interface Handler {
  configProvider: Promise<{ requestTimeout?: number; socketTimeout?: number }>;
}
const apiFunctions: readonly string[] = ['authorizer', ...allOperations.map((operation) => operation.function)];

describe.each([
  ['the defaults', {}],
  ['every option', everyOption],
  ['the lowest and highest limits', extremes],
])('with %s', (_, settings) => {
  const template = synth(settings);
  const limitOf = (...names: string[]) => limitMs(template, (name) => names.includes(name));
  const every = limitMs(template, () => true);
  const mappings = mappingsOf(template);
  const queues = Object.fromEntries(resourcesOf(template, 'AWS::SQS::Queue'));

  it('frees an idempotency key only after its function must have ended', () => {
    const creating = allOperations
      .filter(({ idempotencyKey }) => idempotencyKey)
      .map((operation) => operation.function);
    expect(RUNNING_MS).toBeGreaterThan(limitOf(...creating));
    expect(REPLAY_MS).toBeGreaterThan(RUNNING_MS);
  });

  it('ends a function of the API before the gateway stops waiting', () => {
    const waits = resourcesOf(template, 'AWS::ApiGateway::Method').map(
      ([, { Integration }]) => Integration.TimeoutInMillis ?? GATEWAY_MS,
    );
    expect(limitOf(...apiFunctions)).toBeLessThan(Math.min(...waits));
  });

  it('keeps a claim of an email until its function has ended, and ends it before its message is visible again', () => {
    expect(CLAIM_MS).toBeGreaterThan(limitOf('deliver'));
    const hidden = mappings.filter(({ isStream }) => !isStream).map(({ source }) => queues[source]?.VisibilityTimeout);
    expect(CLAIM_MS).toBeLessThan(Math.min(...hidden) * 1000);
  });

  it('counts an email as lost only after its function must have ended', () => {
    expect(LOST_AFTER_MS).toBeGreaterThan(limitOf(...apiFunctions, 'deliver', 'email-events'));
    expect(LOST_AFTER_MS).toBeLessThan(EMAIL_WINDOW_MS);
  });

  it('ends an attempt long before its function', () => {
    // Two attempts can follow each other on one connection, and the calls to AWS need time.
    expect(2 * ATTEMPT_TIMEOUT_MS + 3 * SETTINGS.requestHandler.requestTimeout).toBeLessThan(limitOf('deliver'));
  });

  it('leaves time for another try when a call to AWS hangs', () => {
    const { connectionTimeout, requestTimeout } = SETTINGS.requestHandler;
    for (const [id, { Timeout }] of resourcesOf(template, 'AWS::Lambda::Function'))
      expect(2 * (connectionTimeout + requestTimeout), id).toBeLessThan(Timeout * 1000);
    expect((RETRIES + 1) * TIMEOUT_MS).toBeLessThan(limitOf('fan-out'));
  });

  it('works on projects in steps that the function has time for', () => {
    expect(2 * WORK_MS).toBeLessThan(limitOf('projects'));
    expect(SETTLE_MS).toBeGreaterThan(2 * every);
  });

  it('waits in a command until a function must have responded', async () => {
    vi.stubEnv('AWS_REGION', 'eu-west-1');
    const execute = async (_: unknown, { client }: Shell) => {
      const { configProvider } = client(LambdaClient).config.requestHandler as unknown as Handler;
      const { requestTimeout = 0, socketTimeout = 0 } = await configProvider;
      for (const limit of [requestTimeout, socketTimeout]) expect(limit || Infinity).toBeGreaterThan(every);
      return 0;
    };
    await runCommand({ name: '', about: '', execute }).finally(() => vi.unstubAllEnvs());
  });

  it('drops the first message of a recovery only after the function that starts the recovery must have ended', () => {
    expect(STARTING_MS).toBeGreaterThan(limitOf('webhooks', 'projects') + RECOVERY_DELAY_SECONDS * 1000);
  });

  it('replaces a recovery only after its message must be a dead letter', () => {
    const received = Object.values(queues).map((queue) => {
      const { maxReceiveCount = 0 } = queue.RedrivePolicy ?? {};
      return maxReceiveCount * queue.VisibilityTimeout * 1000;
    });
    expect(Math.max(...received)).toBeGreaterThan(0);
    expect(STALLED_AFTER_MS).toBeGreaterThan(Math.max(...received));
  });

  it('counts a delivery as stuck only after the fan-out and the schedules gave up', () => {
    const ages = mappings.map(({ mapping }) => (mapping.MaximumRecordAgeInSeconds ?? -1) * 1000);
    expect(STUCK_AFTER_MS).toBeGreaterThan(Math.max(...ages));
    expect(STUCK_AFTER_MS).toBeGreaterThanOrEqual(DAY_MS); // the retries of Scheduler
  });

  it('waits in a replay of schedules until messages of an interrupted one are visible', () => {
    for (const [id, { VisibilityTimeout }] of Object.entries(queues))
      expect(VisibilityTimeout ?? 30, id).toBeLessThan(IDLE_SECONDS);
  });

  it('keeps work longer than it can take', () => {
    const retriesMs = RETRY_DELAYS_SECONDS.reduce((sum, seconds) => sum + seconds, 0) * 1000;
    const kept = Object.values(queues).map((queue) => queue.MessageRetentionPeriod * 1000);
    expect(retriesMs + DAY_MS).toBeLessThan(Math.min(...kept, EVENT_RETENTION_MS));
  });
});

it('the queues leave half of the concurrency of an account to the API', () => {
  const queues = mappingsOf(synth({})).filter(({ isStream }) => !isStream);
  const limits = queues.map(({ mapping }) => mapping.ScalingConfig?.MaximumConcurrency ?? 1000);
  expect(limits.reduce((sum, limit) => sum + limit)).toBeLessThanOrEqual(500); // of 1,000 (Lambda quotas)
});

it('the smoke test waits for a lease, three batching windows and ten seconds of cold starts', () => {
  const windows = mappingsOf(synth(extremes)).map(({ mapping }) => mapping.MaximumBatchingWindowInSeconds);
  expect(windows).toContain(5);
  expect(DELIVERY_TIMEOUT_MS / 1000).toBeGreaterThanOrEqual(LEASE_SECONDS + 3 * 5 + 10);
});

it('the tests use a table with the keys and indexes of the template', () => {
  synth({}).hasResourceProperties('AWS::DynamoDB::Table', TABLE);
});

describe('a delay', () => {
  it('fits into a queue', () => {
    for (const seconds of [MAX_QUEUE_DELAY_SECONDS, MAX_LEASE_SECONDS, EMAIL_WINDOW_MS / 1000])
      expect(seconds).toBeLessThanOrEqual(SQS_DELAY_SECONDS);
  });

  it('is longer than the delay of the index for a recovery', () => {
    expect(RECOVERY_DELAY_SECONDS * 1000).toBeGreaterThan(MAX_REPLICATION_MS);
    expect(RECOVERY_DELAY_SECONDS).toBeLessThanOrEqual(SQS_DELAY_SECONDS);
  });
});

describe('the limits of the lanes', () => {
  it('are in order, within the time of an attempt', () => {
    const limits = [QUICK_WITHIN_MS, SUSPECT_AFTER_MS, SLOW_AFTER_MS, ATTEMPT_TIMEOUT_MS, SUSPECT_FOR_MS];
    expect(limits.toSorted((a, b) => a - b)).toEqual(limits);
    expect(new Set(limits).size).toBe(limits.length);
  });
});
