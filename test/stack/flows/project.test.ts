import { describe, expect, it } from 'vitest';
import { eventually, FAST_DELAYS, useService } from '../../support/service.ts';

const service = useService(FAST_DELAYS);
const addresses = () => Array.from({ length: 2 }, () => `${crypto.randomUUID()}@example.com`);
const emailsTo = (address: string) => service.stack.ses.emails.filter(({ to }) => to === address);

describe('an email of a project', () => {
  it('is sent as a test to all addresses', async () => {
    const { id, admin } = await service.project('Acme <b>');
    const emails = addresses();
    await admin('PATCH', '/v1/project', { body: { emails } });
    const { status, body } = await admin('POST', '/v1/project/test-mail');
    expect([status, body]).toEqual([202, { emails }]);
    for (const address of emails) {
      const [email] = emailsTo(address);
      expect(email?.subject).toBe(`Test email (${id})`);
      expect(email?.html).toContain('Acme &#60;b&#62;');
    }
    const again = await admin('POST', '/v1/project/test-mail');
    expect([again.status, again.body.code]).toEqual([429, 'too_many_requests']);
    expect(Number(again.headers['retry-after'])).toBeGreaterThan(1);
  });

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

  it('is sent with the longest project name in any valid characters', async () => {
    const { admin } = await service.project();
    const emails = addresses();
    const name = `${'😀'.repeat(49)}é\u2028`.slice(0, 100);
    expect((await admin('PATCH', '/v1/project', { body: { name, emails } })).status).toBe(200);
    expect((await admin('POST', '/v1/project/test-mail')).status).toBe(202);
    expect(emailsTo(emails[0] ?? '')[0]?.text).toContain(`"${name.replace('\u2028', ' ')}"`);
  });
});
