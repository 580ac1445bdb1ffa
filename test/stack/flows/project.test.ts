import { describe, expect, it } from 'vitest';
import { eventually, FAST_DELAYS, useService } from '../../support/service.ts';

const service = useService(FAST_DELAYS);
const addresses = () => Array.from({ length: 2 }, () => `${crypto.randomUUID()}@example.com`);
const emailsTo = (address: string) => service.stack.ses.emails.filter(({ to }) => to === address);

describe('an email of a project', () => {
  it('is not sent to an unverified recipient in the SES sandbox, and the caller gets an error', async () => {
    const { admin, email } = await service.project();
    service.stack.ses.sandbox = new Set();
    const { status, body } = await admin('POST', '/v1/project/test-mail').finally(() => {
      service.stack.ses.sandbox = null;
    });
    expect([status, body.code]).toEqual([500, 'internal_error']);
    expect(emailsTo(email)).toEqual([]);
  });

  it('is accepted and not sent to an address on the suppression list', async () => {
    const { admin } = await service.project();
    const emails = addresses();
    const [suppressed = '', other = ''] = emails;
    service.stack.ses.suppressed.add(suppressed);
    await admin('PATCH', '/v1/project', { body: { emails } });
    expect((await admin('POST', '/v1/project/test-mail')).status).toBe(202);
    expect([emailsTo(suppressed).length, emailsTo(other).length]).toEqual([0, 1]);
  });

  it.each([
    ['bounces', 'bounce', 'bounced'],
    ['complains', 'complaint', 'complained'],
  ])('is not sent again to an address that %s', async (_, local, reason) => {
    const { id, admin } = await service.project();
    const [other = ''] = addresses();
    const returned = `${local}@${crypto.randomUUID()}.example.com`;
    await admin('PATCH', '/v1/project', { body: { emails: [returned, other] } });
    expect((await admin('POST', '/v1/project/test-mail')).body.emails).toEqual([returned, other]);
    const [undeliverable] = await eventually(async () => {
      const { body } = await admin('GET', '/v1/project');
      return body.undeliverable_emails.length > 0 ? body.undeliverable_emails : undefined;
    });
    expect(undeliverable).toMatchObject({ email: returned, reason });
    await eventually(() => emailsTo(other).some(({ subject }) => subject === `Emails do not arrive (${id})`));
    await admin('POST', '/v1/keys', { body: { type: 'admin' } });
    expect([emailsTo(returned).length, emailsTo(other).length]).toEqual([1, 3]);
  });
});
