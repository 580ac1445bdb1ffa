import { describe, expect, it } from 'vitest';
import { memoryService } from '../../support/memory-service.ts';
import { createWebhook, publish } from '../../support/requests.ts';

const service = memoryService();
const addresses = () => Array.from({ length: 2 }, () => `${crypto.randomUUID()}@example.com`);
const emailsTo = (address: string) => service.emails.filter(({ to }) => to.includes(address));

describe('a project', () => {
  it('is read and changed with its own admin key', async () => {
    const { id, admin, email, ...project } = await service.project('Acme');
    const before = (await admin('GET', '/v1/project')).body;
    expect(before).toMatchObject({ id, name: 'Acme', emails: [email], on_leak: 'report' });
    const emails = addresses();
    const after = { ...before, name: 'Acme <b>', emails, on_leak: 'revoke' };
    const body = { name: after.name, emails, on_leak: 'revoke' };
    expect((await admin('PATCH', '/v1/project', { body })).body).toEqual(after);
    expect((await admin('PATCH', '/v1/project', { body: {} })).body).toEqual(after);
    expect((await admin('GET', '/v1/project')).body).toEqual(after);
    expect((await admin('GET', '/v1/audit?limit=1')).body.data).toMatchObject([
      { action: 'project.changed', target: id, detail: body },
    ]);
    const live = await project.client('live');
    for (const method of ['GET', 'PATCH']) expect((await live(method, '/v1/project')).status).toBe(403);
  });

  it('has 1 to 5 different addresses', async () => {
    const { admin } = await service.project();
    const [one = ''] = addresses();
    const many = Array.from({ length: 6 }, (_, i) => `${i}@example.com`);
    for (const emails of [[], many, [one, one], ['nobody'], [`${'x'.repeat(250)}@example.com`], one, null, [1]]) {
      const { status, body } = await admin('PATCH', '/v1/project', { body: { emails } });
      expect([status, body.code], JSON.stringify(emails)).toEqual([400, 'invalid_request']);
    }
    expect((await admin('PATCH', '/v1/project', { body: { emails: many.slice(1) } })).status).toBe(200);
  });
});

describe('an email of a project', () => {
  it('goes to all addresses when a webhook is disabled', async () => {
    const { admin, ...project } = await service.project();
    const emails = addresses();
    await admin('PATCH', '/v1/project', { body: { emails } });
    const live = await project.client('live');
    const { id } = await createWebhook(live, service.endpoint(500).url);
    await publish(live);
    await service.settle();
    for (const address of emails)
      expect(emailsTo(address).some(({ subject, text }) => /disabled/.test(subject) && text.includes(id))).toBe(true);
  });
});
