import { expect, it } from 'vitest';
import { eventually, FAST_DELAYS, useService } from '../../support/service.ts';

const service = useService(FAST_DELAYS);

it.each([
  ['bounce', 'bounced'],
  ['complaint', 'complained'],
])('stops emails to an address for which SES publishes a %s', async (name, reason) => {
  const { admin, email } = await service.project();
  const address = `${name}@${crypto.randomUUID()}.example.com`;
  await admin('PATCH', '/v1/project', { body: { emails: [email, address] } }); // sends the address a link
  const undeliverable = async () => (await admin('GET', '/v1/project')).body.undeliverable_emails;
  expect(await eventually(async () => (await undeliverable())[0])).toMatchObject({ email: address, reason });
});
