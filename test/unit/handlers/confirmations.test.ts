import { describe, expect, it, onTestFinished } from 'vitest';
import { EMAIL_WINDOW_MS, MAX_EMAILS } from '../../../lib/emails/email-budget.ts';
import { MAX_MAILBOXES } from '../../../lib/projects/recipients.ts';
import { code, listed } from '../../support/documents.ts';
import { memoryService, tokensIn } from '../../support/memory-service.ts';
import { createWebhook, publish } from '../../support/requests.ts';

const DAY_MS = 24 * 60 * 60 * 1000;
const service = memoryService();
const newAddress = () => `${crypto.randomUUID()}@example.com`;
const emailsTo = (address: string) => service.emails.filter(({ to }) => to.includes(address));
const subjectsTo = (address: string) => emailsTo(address).map(({ subject }) => subject.replace(/ \(prj_\w+\)$/, ''));
const QUESTION = 'Confirm this address';

/** A project that has added an address, and the token that the address received. */
async function withNewAddress() {
  const project = await service.project();
  const { admin } = project;
  const address = newAddress();
  const setEmails = (...emails: string[]) => admin('PATCH', '/v1/project', { body: { emails } });
  await setEmails(project.email, address);
  const [token = ''] = emailsTo(address).flatMap(tokensIn);
  const unconfirmed = async () => (await admin('GET', '/v1/project')).body.unconfirmed_emails;
  const send = (path: string, email = address) => admin('POST', `/v1/project/${path}`, { body: { email } });
  return { ...project, address, token, setEmails, unconfirmed, send };
}

const confirm = (token: string) => service.as(null)('POST', '/v1/email-confirmations', { body: { token } });

/** Causes every kind of email of a project. */
async function causeEmails({ admin, client }: Awaited<ReturnType<typeof withNewAddress>>) {
  await service.clock.advance(EMAIL_WINDOW_MS);
  await admin('POST', '/v1/project/test-mail');
  for (let i = 0; i < MAX_EMAILS; i++) await admin('POST', '/v1/keys', { body: { type: 'admin' } });
  await service.clock.advance(EMAIL_WINDOW_MS);
  const live = await client('live');
  await createWebhook(live, service.endpoint(500).url);
  await publish(live);
  await service.clock.advance(DAY_MS);
}

describe('a new address', () => {
  it('receives one email with a link, and all others only after its owner has confirmed it', async () => {
    const project = await withNewAddress();
    const { admin, address, token, unconfirmed } = project;
    await causeEmails(project);
    expect(subjectsTo(address)).toEqual([QUESTION]);
    expect(await unconfirmed()).toEqual([{ email: address, requested_at: expect.any(String) }]);
    expect(await confirm(token)).toMatchObject({ status: 200, body: { email: address } });
    expect(await unconfirmed()).toEqual([]);
    await causeEmails(project);
    const subjects = subjectsTo(address).join('\n');
    for (const each of ['Test email', 'Admin key created', 'Summary', 'Webhook failing', 'Webhook disabled'])
      expect(subjects).toContain(each);
    // The owner can use the link again.
    const entries = await listed(admin, '/v1/audit');
    expect(await confirm(token)).toMatchObject({ status: 200, body: { email: address } });
    expect(await listed(admin, '/v1/audit')).toHaveLength(entries.length);
  });

  it('is confirmed by its owner in any case, and not again after it was removed and added', async () => {
    const { email, address, token, setEmails, unconfirmed } = await withNewAddress();
    await setEmails(email, address.toUpperCase());
    expect((await confirm(token)).body).toEqual({ email: address.toUpperCase() });
    await setEmails(email);
    expect(code(await confirm(token))).toEqual([404, 'not_found']);
    await setEmails(email, address);
    expect(await unconfirmed()).toMatchObject([{ email: address }]);
    expect(subjectsTo(address)).toEqual([QUESTION]);
    expect((await confirm(token)).status).toBe(200);
  });

  it('is not confirmed by an invalid or expired link, or by that of another project', async () => {
    const { id, address, token, unconfirmed } = await withNewAddress();
    const other = await withNewAddress();
    const invalid = [
      ...['', 'x', `${id}.`, token.split('.')[1] ?? '', `${token}A`, `${id}.${other.token.split('.')[1]}`],
      token.replace(id, 'prj_00000000000000000000000000'),
    ];
    for (const each of invalid) expect(code(await confirm(each)), each).toEqual([404, 'not_found']);
    await confirm(other.token);
    await service.clock.advance(7 * DAY_MS);
    expect(code(await confirm(token))).toEqual([404, 'not_found']);
    expect(await unconfirmed()).toMatchObject([{ email: address }]);
  });

  it('of a suspended project is confirmed after the project is resumed', async () => {
    const { id, token } = await withNewAddress();
    await service.administer({ operation: 'suspend', id });
    expect(code(await confirm(token))).toEqual([404, 'not_found']);
    await service.administer({ operation: 'resume', id });
    expect((await confirm(token)).status).toBe(200);
  });

  it('can be the only one of a project, which then sends no notifications', async () => {
    const project = await withNewAddress();
    await project.setEmails(project.address);
    const before = service.emails.length;
    await causeEmails(project);
    expect(service.emails.slice(before)).toEqual([]);
    expect(code(await project.admin('POST', '/v1/project/test-mail'))).toEqual([409, 'conflict']);
    expect(service.failures).toEqual([]);
  });
});

describe('the link', () => {
  it('is sent again once per day', async () => {
    const { email, address, send } = await withNewAddress();
    const { status, headers, body } = await send('send-confirmation');
    expect([status, headers['retry-after']]).toEqual([429, '86400']);
    expect(body.detail).toBe('Send the next link in 86400 s. An address receives one link per day.');
    await service.clock.advance(DAY_MS);
    expect(await send('send-confirmation')).toMatchObject({
      status: 202,
      body: { unconfirmed_emails: [{ email: address }] },
    });
    expect((await send('send-confirmation')).status).toBe(429);
    expect(subjectsTo(address)).toEqual([QUESTION, QUESTION]);
    expect((await send('send-confirmation', email)).status).toBe(202); // nothing to do
    expect(emailsTo(email).filter(({ subject }) => subject.startsWith(QUESTION))).toEqual([]);
  });

  it('is the only email to an undeliverable address that was never confirmed', async () => {
    const { id, admin, email, address, setEmails, send, unconfirmed } = await withNewAddress();
    await service.stopEmails(id, address, 'bounced');
    expect((await send('confirm-email')).status).toBe(429);
    await setEmails(email);
    await service.clock.advance(2 * DAY_MS);
    await setEmails(email, address); // the mark still applies
    expect(subjectsTo(address)).toEqual([QUESTION]);
    expect((await send('confirm-email')).body).toMatchObject({ undeliverable_emails: [] });
    expect(subjectsTo(address)).toEqual([QUESTION, QUESTION]);
    expect((await admin('POST', '/v1/project/test-mail')).body).toEqual({ emails: [email] });
    expect(await unconfirmed()).toMatchObject([{ email: address }]);
  });

  it('is sent after an outage of SES', async () => {
    service.faults.email = new Error('Outage');
    const { address, token } = await withNewAddress();
    delete service.faults.email;
    service.failures.splice(0);
    expect([token, subjectsTo(address)]).toEqual(['', []]);
    await service.clock.advance(EMAIL_WINDOW_MS);
    expect(subjectsTo(address)).toEqual([QUESTION]);
    await service.clock.advance(DAY_MS);
    expect(subjectsTo(address)).toHaveLength(1);
  });

  it('to an address that SES rejects is reported once, and stops no other email', async () => {
    onTestFinished(() => void delete service.faults.command);
    const rejection = Object.assign(new Error('Email address is not verified'), { name: 'MessageRejected' });
    const rejected = newAddress();
    service.faults.command = (name, input) =>
      name === 'SendEmail' && JSON.stringify(input).includes(rejected) ? rejection : undefined;
    const { email, admin, setEmails } = await withNewAddress();
    for (let i = 0; i < MAX_EMAILS; i++) await admin('POST', '/v1/keys', { body: { type: 'admin' } });
    await setEmails(email, rejected);
    await service.clock.advance(3 * EMAIL_WINDOW_MS);
    expect(service.failures.splice(0)).toEqual(['email.rejected']);
    expect(subjectsTo(email).filter((subject) => subject.startsWith('Summary'))).toHaveLength(1);
  });
});

describe('changes of the addresses', () => {
  it('reach at most 5 people in 10 minutes, each once per day, and at most 30 in 30 days', async () => {
    const { id, admin, email } = await service.project();
    const strangers = Array.from({ length: 60 }, newAddress);
    const statuses: number[] = [];
    for (let i = 0; i < 12; i++)
      statuses.push(
        (await admin('PATCH', '/v1/project', { body: { emails: strangers.slice(5 * i, 5 * i + 5) } })).status,
      );
    // With its first address, the project has had 26 addresses after five changes.
    expect(statuses).toEqual([...Array(5).fill(200), ...Array(7).fill(409)]);
    const sent = () => service.emails.filter(({ projectId }) => projectId === id);
    expect(sent()).toHaveLength(MAX_EMAILS);
    for (let hours = 0; hours < 48; hours++) {
      await admin('PATCH', '/v1/project', { body: { emails: [email, ...strangers.slice(0, 1 + (hours % 4))] } });
      await service.clock.advance(EMAIL_WINDOW_MS);
    }
    await service.clock.advance(3 * DAY_MS);
    const times = sent().map(({ at }) => at);
    for (const at of times)
      expect(times.filter((each) => each >= at && each < at + EMAIL_WINDOW_MS).length).toBeLessThanOrEqual(MAX_EMAILS);
    expect(strangers.filter((address) => emailsTo(address).length > 1)).toEqual([]);
    // Addresses that were removed before a place was free receive nothing.
    expect(strangers.filter((address) => emailsTo(address).length > 0).length).toBeLessThan(12);
    const problem = await admin('PATCH', '/v1/project', { body: { emails: strangers.slice(30, 35) } });
    expect(code(problem)).toEqual([409, 'limit_reached']);
    expect(problem.body.detail).toContain(`${MAX_MAILBOXES} different addresses in 30 days`);
    await service.clock.advance(30 * DAY_MS);
    expect((await admin('PATCH', '/v1/project', { body: { emails: strangers.slice(30, 35) } })).status).toBe(200);
  });
});
