import { createServer } from 'node:http';
import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { SchedulerClient } from '@aws-sdk/client-scheduler';
import { SESClient } from '@aws-sdk/client-ses';
import { SQSClient } from '@aws-sdk/client-sqs';
import { describe, expect, it, vi } from 'vitest';
import { entry } from '../../lib/aws/backend.ts';
import { update } from '../../lib/aws/expressions.ts';
import { itemKey } from '../../lib/aws/items.ts';
import { lambda, SETTINGS } from '../../lib/aws/runtime.ts';
import { createTable } from '../../lib/aws/table.ts';
import { LANES } from '../../lib/deliveries/lanes.ts';
import { listen } from '../support/endpoints.ts';
import { createEntry } from '../support/entries.ts';
import { memoryService } from '../support/memory-service.ts';
import { createWebhook, publish } from '../support/requests.ts';
import { runtimeWith, VARIABLES } from '../support/runtime.ts';

/** `test/unit/webhooks` has all kinds of addresses. */
const PRIVATE = ['https://169.254.169.254/latest/meta-data/', 'https://localhost/hook'];

// `grants.test.ts` proves that the template sets no variable that only the local stack sets.
describe.each([undefined, 'false'])('a deployment with ALLOW_PRIVATE_ENDPOINTS: %s', (ALLOW_PRIVATE_ENDPOINTS) => {
  const service = memoryService({ variables: { ALLOW_PRIVATE_ENDPOINTS }, isPosting: true });
  const events = ['document.changed'];

  it.each([...PRIVATE, 'http://example.com/hook'])('rejects a webhook to %s', async (url) => {
    const { admin } = await service.project();
    const { status, body } = await admin('POST', '/v1/webhooks', { body: { url, events } });
    expect([status, body.errors[0].field]).toEqual([400, 'url']);
    const webhook = (await admin('POST', '/v1/webhooks', { body: { url: 'https://example.com/', events } })).body;
    expect((await admin('PATCH', `/v1/webhooks/${webhook.id}`, { body: { url } })).status).toBe(400);
    expect((await admin('GET', `/v1/webhooks/${webhook.id}`)).body.url).toBe('https://example.com/');
  });

  it.each(PRIVATE)('sends nothing to %s, even if a webhook has it', async (url) => {
    const { admin, id: projectId } = await service.project();
    const webhook = (await admin('POST', '/v1/webhooks', { body: { url: 'https://example.com/', events } })).body;
    const space = { projectId, environment: 'live' } as const;
    await service.table.write([update(itemKey.webhook(space, webhook.id), { url })]);
    const { event_id } = (await admin('POST', `/v1/webhooks/${webhook.id}/test`, { body: {} })).body;
    await service.settle();
    const { attempts } = (await admin('GET', `/v1/webhooks/${webhook.id}/deliveries/${event_id}`)).body;
    expect(attempts.map(({ error }: { error: string }) => error)).toEqual(['address_not_public']);
  });
});

it('keeps the connection to an endpoint for the next batch', async () => {
  const service = memoryService({ isPosting: true });
  const { admin } = await service.project();
  const seen: string[] = [];
  const server = createServer((_, response) => response.end(() => seen.push('request')));
  server.on('connection', () => seen.push('connection'));
  await createWebhook(admin, `http://127.0.0.1:${await listen(server)}/hook`);
  for (let i = 0; i < 3; i++) {
    await publish(admin);
    await service.settle();
  }
  // After the first success, the function for fast endpoints sends the others.
  expect(seen).toEqual(['connection', 'request', 'connection', 'request', 'request']);
});

describe('a function', () => {
  it('creates its code and its clients once, for all invocations of an environment', async () => {
    const build = vi.fn(() => async () => {});
    const { handler } = entry(build);
    for (let i = 0; i < 2; i++) await handler();
    expect(build).toHaveBeenCalledOnce();
  });

  it.each(['', undefined])('does not start with a variable of the value %j', (SHARE_PREFIX) => {
    const runtime = runtimeWith(async () => ({}), { variables: { ...VARIABLES, SHARE_PREFIX } });
    expect(() => createEntry('authorizer', runtime)).toThrow('The environment variable SHARE_PREFIX is not set');
  });
});

it.each(LANES)('the lane %s gives every endpoint the same time', (lane) => {
  const poster = vi.fn(() => async () => Promise.reject());
  const runtime = runtimeWith(async () => ({}));
  createEntry(`deliver ${lane}`, runtime, { poster });
  expect(poster.mock.calls).toEqual([['public']]); // and no other time limit than the default
});

// The adaptive mode would delay every call of a client after the partition of one customer was throttled.
it.each([
  DynamoDBClient,
  SchedulerClient,
  SESClient,
  SQSClient,
])('calls of %o do not wait for each other', async (type) => {
  const { retryMode } = lambda.client<InstanceType<typeof type>>(type).config;
  expect(await (retryMode as () => Promise<string>)()).toBe('standard');
});

it(
  'the client of the table ends a call that gets no response, within its time limit',
  { timeout: 30_000 },
  async () => {
    let receive = () => {};
    let requests = 0;
    const received = new Promise<void>((resolve) => {
      receive = resolve;
    });
    const variables = {
      AWS_ENDPOINT_URL_DYNAMODB: `http://127.0.0.1:${await listen(createServer(() => ++requests === 2 && receive()))}`,
      AWS_REGION: 'eu-central-1',
      AWS_ACCESS_KEY_ID: 'id',
      AWS_SECRET_ACCESS_KEY: 'secret',
      AWS_MAX_ATTEMPTS: '1',
    };
    for (const [name, value] of Object.entries(variables)) vi.stubEnv(name, value);
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    const table = createTable({ ...lambda, variables: VARIABLES });
    try {
      const read = table.get({ pk: 'a', sk: 'b' }); // in parallel with the check of the layout
      const call = expect(read).rejects.toMatchObject({ cause: { name: 'TimeoutError' } });
      await received;
      await vi.advanceTimersByTimeAsync(SETTINGS.requestHandler.requestTimeout);
      await call;
    } finally {
      vi.useRealTimers();
      vi.unstubAllEnvs();
    }
  },
);
