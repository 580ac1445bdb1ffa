import { describe, expect, it, onTestFinished } from 'vitest';
import { EMAIL_WINDOW_MS } from '../../../lib/emails/email-budget.ts';
import { inert } from '../../../lib/emails/inert.ts';
import { memoryService } from '../../support/memory-service.ts';

const MINUTE_MS = 60_000;
const DAY_MS = 24 * 60 * MINUTE_MS;
const service = memoryService();
const addresses = () => Array.from({ length: 2 }, () => `${crypto.randomUUID()}@example.com`);
const emailsTo = (address: string) => service.emails.filter(({ to }) => to.includes(address));

it('a project is read and changed with its own admin key', async () => {
  const { id, admin, email } = await service.project('Acme');
  const before = (await admin('GET', '/v1/project')).body;
  expect(before).toMatchObject({ id, name: 'Acme', emails: [email], undeliverable_emails: [] });
  expect(before.source_addresses).toEqual(['192.0.2.1', '192.0.2.2']);
  const changing = memoryService({ variables: { SOURCE_ADDRESSES: undefined } });
  expect((await (await changing.project()).admin('GET', '/v1/project')).body.source_addresses).toEqual([]);
  const emails = addresses();
  const unconfirmed_emails = emails.map((email) => ({ email, requested_at: expect.any(String) }));
  const after = { ...before, name: 'Acme <b>', emails, unconfirmed_emails };
  const body = { name: after.name, emails };
  expect((await admin('PATCH', '/v1/project', { body })).body).toEqual(after);
  expect((await admin('PATCH', '/v1/project', { body: {} })).body).toEqual(after);
  expect((await admin('GET', '/v1/project')).body).toEqual(after);
});

it('a test email goes to all addresses, at most once a minute', async () => {
  const { admin, email } = await service.project('Acme');
  const send = () => admin('POST', '/v1/project/test-mail');
  expect((await send()).body).toEqual({ emails: [email] });
  await service.clock.advance(19_001);
  const { status, body, headers } = await send();
  expect([status, body.code, headers['retry-after']]).toEqual([429, 'too_many_requests', '41']);
  expect(body.detail).toBe(
    'Send the next test email in 41 s. A project can send one per minute, and 5 emails in 10 minutes.',
  );
  expect(emailsTo(email)).toHaveLength(1);
  await service.clock.advance(40_999);
  expect((await send()).status).toBe(202);
});

describe('an address that SES reports', () => {
  async function setUp({ isReported = true } = {}) {
    const project = await service.project();
    const emails = addresses();
    await project.admin('PATCH', '/v1/project', { body: { emails } });
    await service.confirmAddresses(project.id);
    await service.clock.advance(EMAIL_WINDOW_MS);
    const [bounced = '', other = ''] = emails;
    if (isReported) await service.stopEmails(project.id, bounced, 'bounced');
    const undeliverable = async () => (await project.admin('GET', '/v1/project')).body.undeliverable_emails;
    const confirm = (email: string) => project.admin('POST', '/v1/project/confirm-email', { body: { email } });
    return { ...project, bounced, other, undeliverable, confirm };
  }

  it('is shown, receives no more emails, and is reported to the others once', async () => {
    const { id, admin, bounced, other, undeliverable, confirm } = await setUp();
    for (let i = 0; i < 5; i++) await service.stopEmails(id, bounced.toUpperCase(), 'complained');
    await service.stopEmails('prj_none', 'nobody@example.com', 'bounced');
    const sent = service.emails.filter(({ subject }) => subject === `Emails do not arrive (${id})`);
    expect(sent).toMatchObject([{ to: [other] }]);
    const marks = [{ email: bounced, reason: 'bounced', at: expect.any(String) }];
    expect(await undeliverable()).toEqual(marks);
    const shown = { emails: [bounced, other], undeliverable_emails: marks };
    expect(await service.administer({ operation: 'show', id })).toMatchObject(shown);
    const before = emailsTo(bounced).length;
    const { status, body } = await admin('POST', '/v1/project/test-mail');
    expect([status, body]).toEqual([202, { emails: [other] }]);
    expect((await confirm(bounced)).status).toBe(429); // too soon after the test email
    await admin('POST', '/v1/keys', { body: { type: 'admin' } }); // repeated reports use up no emails
    expect(await undeliverable()).toHaveLength(1);
    expect(emailsTo(bounced)).toHaveLength(before);
    expect(emailsTo(other).at(-1)?.subject).toMatch(/^Admin key created/);
  });

  it('is marked only after a permanent bounce, and an event that cannot be read fails', async () => {
    const { id, bounced, undeliverable } = await setUp({ isReported: false });
    // Event data as in the SES Developer Guide, "Examples of event data", with the members that EventBridge adds.
    const bounce = (bounceType: string, tags: object) =>
      service.invoke('email-events', {
        'detail-type': 'Email Bounced',
        source: 'aws.ses',
        detail: {
          eventType: 'Bounce',
          mail: { tags: { ...tags, 'ses:from-domain': ['example.com'] } },
          bounce: {
            bounceType,
            bounceSubType: 'General',
            bouncedRecipients: [{ emailAddress: bounced, action: 'failed', status: '5.1.1' }],
          },
        },
      });
    const before = service.log.length;
    for (const type of ['Transient', 'Undetermined']) await bounce(type, { project: [id] });
    expect(await undeliverable()).toEqual([]);
    await bounce('Permanent', { project: [id] });
    expect(await undeliverable()).toMatchObject([{ email: bounced, reason: 'bounced' }]);
    await expect(bounce('Permanent', {})).rejects.toThrow();
    const lines = service.log.slice(before).map((line) => JSON.parse(line));
    expect(lines.filter(({ message }) => message.startsWith('email_event.'))).toMatchObject([
      { message: 'email_event.handled', bounced: 0 },
      { message: 'email_event.handled', bounced: 0 },
      { message: 'email_event.handled', bounced: 1, complained: 0 },
      { message: 'email_event.failed' },
    ]);
  });

  it('is marked even if the email about it fails, and a summary then tells the others', async () => {
    const { id, bounced, other } = await setUp({ isReported: false });
    service.faults.email = new Error('Outage');
    await expect(service.stopEmails(id, bounced, 'complained')).rejects.toThrow('Outage');
    delete service.faults.email;
    await service.stopEmails(id, bounced, 'complained');
    expect(emailsTo(other).slice(1)).toEqual([]); // after the link
    await service.clock.advance(2 * MINUTE_MS);
    expect(emailsTo(other).slice(1)).toMatchObject([
      {
        to: [other],
        subject: `Summary of notifications (${id})`,
        text: expect.stringContaining(`${inert(bounced)}. Its mail provider reported`),
      },
    ]);
  });

  it('is reported to the others by the repeated event if their email could not be reserved', async () => {
    const { id, bounced, other } = await setUp({ isReported: false });
    service.faults.command = (name) => (name === 'Put' ? new Error('Outage') : undefined);
    onTestFinished(() => void delete service.faults.command);
    await expect(service.stopEmails(id, bounced, 'bounced')).rejects.toThrow('Outage');
    delete service.faults.command;
    await service.stopEmails(id, bounced, 'bounced');
    expect(emailsTo(other).slice(1)).toMatchObject([{ subject: `Emails do not arrive (${id})` }]);
  });

  it('keeps its mark for 30 days, also if it is removed and added', async () => {
    const { id, admin, bounced, other, undeliverable } = await setUp();
    const marksAfter = async (emails: string[]) =>
      (await admin('PATCH', '/v1/project', { body: { emails } })).body.undeliverable_emails;
    expect(await marksAfter([other])).toEqual([]);
    expect(await marksAfter([other, bounced.toUpperCase()])).toMatchObject([{ email: bounced.toUpperCase() }]);
    await service.clock.advance(29 * DAY_MS);
    expect(await marksAfter([bounced])).toMatchObject([{ email: bounced }]);
    expect((await admin('POST', '/v1/project/test-mail')).status).toBe(409);
    await service.clock.advance(DAY_MS);
    expect(await undeliverable()).toEqual([]);
    expect((await admin('POST', '/v1/project/test-mail')).status).toBe(409); // not confirmed since it was added again
    await service.stopEmails(id, bounced, 'complained');
    expect(await undeliverable()).toMatchObject([{ email: bounced, reason: 'complained' }]);
  });

  it('is marked without an email after the project has removed it, and not at all if the project never had it', async () => {
    const { id, admin, bounced, other, undeliverable } = await setUp({ isReported: false });
    await admin('PATCH', '/v1/project', { body: { emails: [other] } });
    const before = emailsTo(other).length;
    for (const address of [bounced, 'stranger@example.com']) await service.stopEmails(id, address, 'complained');
    expect([await undeliverable(), emailsTo(other).length]).toEqual([[], before]);
    const emails = [other, bounced.toUpperCase(), 'stranger@example.com'];
    const { body } = await admin('PATCH', '/v1/project', { body: { emails } });
    expect(body.undeliverable_emails).toMatchObject([{ email: bounced.toUpperCase(), reason: 'complained' }]);
  });

  it('is used again after an admin confirms it, which sends it a test email', async () => {
    const { id, admin, bounced, other, undeliverable, confirm } = await setUp();
    const { status, body } = await confirm(bounced.toUpperCase());
    expect([status, body.undeliverable_emails]).toEqual([200, []]);
    expect(emailsTo(bounced).at(-1)).toMatchObject({ subject: `Test email (${id})`, to: [bounced] });
    expect(await undeliverable()).toEqual([]);
    expect((await admin('POST', '/v1/project/test-mail')).status).toBe(429);
    expect(emailsTo(other).at(-1)?.subject).not.toMatch(/^Test/);
  });

  it('refuses a test email when no address is left, until one of them is confirmed', async () => {
    const { id, admin, bounced, other, confirm } = await setUp();
    await service.stopEmails(id, other, 'complained');
    expect((await admin('POST', '/v1/project/test-mail')).body).toMatchObject({ status: 409, code: 'conflict' });
    expect((await confirm(bounced)).body.undeliverable_emails).toMatchObject([{ email: other }]);
  });
});
