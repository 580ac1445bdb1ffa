import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import { Webhook } from 'standardwebhooks';
import { serviceSignature } from '../../../../lib/webhooks/signature.ts';
import { violationsOf } from '../openapi.ts';
import type { Received } from '../receiver.ts';
import type { Check, Run } from '../run.ts';
import { expectStatus } from './expectations.ts';

/** The minimum. */
const LEASE_SECONDS = 10;
const LOOK_MS = 500;

const checks: Omit<Check, 'needs'>[] = [
  {
    name: 'Webhooks: deliver changes as documented',
    async run(run) {
      const { delivery } = await deliver(run);
      const { headers, json } = delivery;
      const content = ['requestBody', 'content', 'application/json', 'schema'];
      const violations = violationsOf(json, 'webhooks', json.type, 'post', ...content);
      assert.ok(violations.length === 0, `the body does not match its schema: ${violations.join('; ')}`);
      for (const [name, value] of [
        ['x-service-event-id', json.id],
        ['x-service-event-type', json.type],
        ['x-service-attempt', '1'],
      ]) {
        assert.ok(headers[name] === value, `${name} is ${headers[name]}, not ${value}`);
      }
    },
  },
  {
    name: 'Webhooks: X-Service-Signature verifies',
    async run(run) {
      const { secret, delivery } = await deliver(run);
      expectSignature(delivery, 'x-service-signature', secret);
    },
  },
  {
    name: 'Webhooks: the Standard Webhooks signature verifies',
    async run(run) {
      const { secret, delivery } = await deliver(run);
      new Webhook(secret).verify(delivery.body, delivery.headers);
    },
  },
  {
    name: 'Webhooks: both secrets sign after a rotation',
    async run(run) {
      const webhook = await createWebhook(run);
      const rotated = await run.test('POST', `/v1/webhooks/${webhook.id}/rotate-secret`, { body: {} });
      expectStatus(rotated, 200);
      const delivery = await change(run, webhook);
      expectSignature(delivery, 'x-service-signature', rotated.json.secret);
      expectSignature(delivery, 'x-service-signature-previous', webhook.secret);
      for (const each of [webhook.secret, rotated.json.secret])
        new Webhook(each).verify(delivery.body, delivery.headers);
    },
  },
  {
    name: 'Webhooks: the delivery log shows the success',
    async run(run) {
      const { id, delivery } = await deliver(run);
      const path = `/v1/webhooks/${id}/deliveries/${delivery.json.id}`;
      const endsAt = performance.now() + run.deliveryTimeoutMs;
      for (;;) {
        const { status, json } = await run.test('GET', path);
        if (json?.status === 'succeeded' && json.attempts?.[0]?.status_code === 204) return;
        const isToCome = status === 404 && performance.now() < endsAt;
        assert.ok(isToCome, `GET ${path}: ${status} ${JSON.stringify(json)}`);
        await sleep(LOOK_MS, undefined, { signal: run.signal });
      }
    },
  },
  {
    name: 'Webhooks: a redelivery sends the same event',
    async run(run) {
      const { delivery, ...webhook } = await deliver(run);
      const again = await run.test('POST', `/v1/webhooks/${webhook.id}/deliveries/${delivery.json.id}/redeliver`);
      expectStatus(again, 202);
      const isAgain = (each: Received) => each !== delivery && each.body === delivery.body;
      await receive(run, webhook, isAgain, run.deliveryTimeoutMs);
    },
  },
  {
    name: 'Connections: an expired lease publishes connection.lost',
    async run(run) {
      const webhook = await createWebhook(run, 'connection.lost');
      const connection = `${run.name}-lost`;
      const body = { node_id: run.name, lease_seconds: LEASE_SECONDS };
      expectStatus(await run.test('PUT', `/v1/connections/${connection}`, { body }), 200);
      const isLost = ({ json }: Received) =>
        json?.type === 'connection.lost' && json.data?.connection_id === connection;
      await receive(run, webhook, isLost, LEASE_SECONDS * 1000 + run.deliveryTimeoutMs);
    },
  },
];
export const webhookChecks: Check[] = checks.map((check) => ({ ...check, needs: 'receiver' }));

interface Created {
  id: string;
  secret: string;
  /** A marker in the URL, because other webhooks of the run can receive the same event. */
  mark: string;
}

async function deliver(run: Run): Promise<Created & { delivery: Received }> {
  const webhook = await createWebhook(run);
  return { ...webhook, delivery: await change(run, webhook) };
}

async function createWebhook({ test, name, receiver }: Run, type = 'document.created'): Promise<Created> {
  const url = new URL(receiver?.url ?? '');
  const mark = crypto.randomUUID();
  url.searchParams.set('smoke', mark);
  const created = await test('POST', '/v1/webhooks', { body: { url, events: [type], description: name } });
  expectStatus(created, 201);
  return { ...created.json, mark };
}

/** Creates a document and returns the delivery of its event. */
async function change(run: Run, webhook: Created): Promise<Received> {
  const key = `${run.name}:${crypto.randomUUID()}`;
  expectStatus(await run.test('PUT', `/v1/documents/${key}`, { body: { fields: { title: 'Draft' } } }), 201);
  return receive(run, webhook, ({ json }) => json?.data?.document_key === key, run.deliveryTimeoutMs);
}

/** Waits for a matching delivery. If an attempt failed, the error contains the reason from the delivery log. */
async function receive(
  { test, receiver, signal }: Run,
  { id, mark }: Created,
  matches: (delivery: Received) => boolean,
  timeoutMs: number,
): Promise<Received> {
  const endsAt = performance.now() + timeoutMs;
  for (;;) {
    const delivery = await receiver?.at.next((each) => each.url.includes(mark) && matches(each), LOOK_MS, signal);
    if (delivery) return delivery;
    const { json } = await test('GET', `/v1/webhooks/${id}/deliveries?limit=1`);
    const { error, status_code } = json?.data?.[0]?.attempts?.at(-1) ?? {};
    assert.ok(!error, `the delivery failed: ${error} ${status_code ?? ''}`);
    assert.ok(performance.now() < endsAt, `no delivery within ${timeoutMs / 1000} s`);
  }
}

function expectSignature({ headers, body }: Received, name: string, secret: string): void {
  assert.ok(
    headers[name] === serviceSignature(secret, body),
    `${name} is ${headers[name]}, which is not the signature of the body`,
  );
}
