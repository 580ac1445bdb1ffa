import { describe, expect, it } from 'vitest';
import { memoryService } from '../../support/memory-service.ts';

const service = memoryService();

describe('the creation of a project', () => {
  it('returns the project and its first admin key, and records both', async () => {
    const { project, admin_key } = await service.createProject({ name: 'Acme', email: 'a@example.com' });
    const createdAt = new Date(service.clock.now()).toISOString();
    expect(project).toEqual({
      id: expect.stringMatching(/^prj_/),
      name: 'Acme',
      email: 'a@example.com',
      emails: ['a@example.com'],
      created_at: createdAt,
    });
    const { key, ...described } = admin_key;
    expect(described).toMatchObject({ type: 'admin', name: 'First admin key', status: 'active', expires_at: null });
    const admin = service.as(key);
    expect((await admin('GET', `/v1/keys/${described.id}`)).body).toEqual({
      ...described,
      last_used_at: expect.any(String),
    });
    expect((await admin('GET', '/v1/audit')).body.data).toMatchObject([
      { action: 'project.created', target: project.id, actor: null, detail: { name: 'Acme', key: described.id } },
    ]);
  });

  it('accepts up to five addresses', async () => {
    const emails = Array.from({ length: 5 }, (_, i) => `${i}@example.com`);
    const { project, admin_key } = await service.createProject({ name: 'Acme', email: emails });
    expect(project).toMatchObject({ email: emails[0], emails });
    expect((await service.as(admin_key.key)('GET', '/v1/project')).body.emails).toEqual(emails);
  });

  it.each<[string, unknown, string]>([
    ['with invalid values', { name: '', email: 'nobody' }, 'name must not be empty; email must be an email address'],
    ['with one address twice', { name: 'A', email: ['a@example.com', 'A@example.com'] }, 'email[1] "A@example.com" is'],
    ['without an address', { name: 'A', email: [] }, 'email must have at least 1 entry'],
    ['without members', {}, 'name is required; email is required'],
    ['with an unknown member', { name: 'A', email: 'a@example.com', plan: 'x' }, 'plan'],
  ])('throws an error with every violation %s', async (_, input, message) => {
    await expect(service.createProject(input)).rejects.toThrow(message);
  });
});
