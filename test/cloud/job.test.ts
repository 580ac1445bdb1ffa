import { createHmac } from 'node:crypto';
import { expect, it } from 'vitest';
import { RETRY_DELAYS_SECONDS } from '../../lib/deliveries/retry-schedule.ts';
import { changed } from '../support/changed.ts';
import { startReceiver } from '../support/receiver.ts';
import { createWebhook, deliveryOf, publish } from '../support/requests.ts';
import { eventually } from '../support/service.ts';
import { denialsIn, denyAll, failuresIn, physicalIds } from './account.ts';
import { deliverDocument, useDeployment } from './deployed.ts';

const service = useDeployment();

it('delivers the signed event of a document that a token wrote, and counts it', async () => {
  const { webhook, live, delivery } = await deliverDocument(await service.project(), service.as);
  const signature = createHmac('sha256', webhook.secret)
    .update(delivery?.body ?? '')
    .digest('hex');
  expect(delivery?.headers['x-service-signature']).toBe(`sha256=${signature}`);
  expect(JSON.parse(delivery?.body ?? '')).toMatchObject({
    type: 'document.created',
    data: { document_key: 'org:acme:hello' },
  });
  await eventually(async () => (await live('GET', '/v1/stats')).body.data[0]?.delivered === 1);
});

it('rejects credentials that an operation does not accept', async () => {
  const { client, admin } = await service.project('Callers');
  const read = await client('read');
  expect((await service.as(null)('GET', '/v1/webhooks')).status).toBe(401);
  const { status, body } = await read('GET', '/v1/webhooks');
  expect([status, body.code]).toEqual([403, 'insufficient_permissions']);
  expect((await admin('GET', '/v1/webhooks')).status).toBe(200);
});

it('makes six attempts in 15 hours, then disables the webhook and emails the project', async () => {
  const project = await service.project('Retries');
  const live = await project.client('live');
  const receiver = await startReceiver(500);
  const { id } = await createWebhook(live, receiver.url, { events: ['document.changed'] });
  const event = await publish(live, changed());
  for (const [i, seconds] of RETRY_DELAYS_SECONDS.entries()) {
    await receiver.until(i + 1);
    await eventually(async () => (await deliveryOf(live, id, event.body.id))?.attempts.length === i + 1);
    service.emulator.advance(seconds * 1000);
  }
  await receiver.until(RETRY_DELAYS_SECONDS.length + 1);
  const webhook = await eventually(async () => {
    const { body } = await live('GET', `/v1/webhooks/${id}`);
    return body.status === 'disabled' ? body : undefined;
  });
  expect(webhook.disabled_reason).toBeTruthy();
  const delivery = await deliveryOf(live, id, event.body.id);
  const times = delivery.attempts.map(({ at }: { at: string }) => Date.parse(at));
  const delays = RETRY_DELAYS_SECONDS.map((_, i) => Math.floor((times[i + 1] - times[i]) / 1000));
  expect(delays.every((delay, i) => delay >= (RETRY_DELAYS_SECONDS[i] ?? 0))).toBe(true);
  await eventually(async () =>
    (await service.emulator.emails()).some(
      ({ To, Subject }) => To.includes(project.email) && /disabled/i.test(Subject),
    ),
  );
});

it('sends no more emails to an address that bounced', async () => {
  const { admin } = await service.project('Bounces', 'bounce@simulator.amazonses.com');
  expect((await admin('POST', '/v1/project/test-mail', { body: {} })).status).toBe(202);
  const undeliverable = await eventually(async () => {
    const { body } = await admin('GET', '/v1/project');
    return body.undeliverable_emails.length > 0 && body.undeliverable_emails;
  });
  expect(JSON.stringify(undeliverable)).toContain('bounce@simulator.amazonses.com');
});

it('was denied no call, and no function failed', async () => {
  expect(denialsIn(service.emulator)).toEqual([]);
  expect(await failuresIn(service.emulator)).toEqual([]);
});

it('denies a role what its policy does not allow', async () => {
  const { client } = await service.project('Denied');
  const live = await client('live');
  const { DocumentsRole307D7B59: role = '' } = await physicalIds(service.emulator);
  await denyAll(service.emulator, role);
  expect((await live('PUT', '/v1/documents/a', { body: { fields: {} } })).status).toBe(500);
  expect(denialsIn(service.emulator)).not.toEqual([]);
});
