import { describe, expect, it } from 'vitest';
import { apiKeys, putFirstKey } from '../../../lib/keys/store.ts';
import { deletions } from '../../../lib/operators/deletion-store.ts';
import { projects } from '../../../lib/projects/store.ts';
import { newKey, newProject, now, recordOf } from './builders.ts';
import { companion, newStore } from './stores.ts';

const { table } = newStore();

describe('projects', () => {
  const { create, get, suspend, changeAsRead } = projects(table);
  const keys = apiKeys(table);

  it('are rejected with an existing id, and no key is created', async () => {
    const project = newProject();
    await create(project, putFirstKey(newKey()));
    const key = newKey();
    await expect(create({ ...project, name: 'Other' }, putFirstKey(key))).rejects.toThrow('taken');
    expect(recordOf(await get(project.id))).toEqual(project);
    expect(await keys.get(key.id)).toBeUndefined();
  });

  it('are not changed if they are missing', async () => {
    const project = newProject();
    expect(await changeAsRead(project, { name: 'New' }, [])).toBe(false);
    expect(await get(project.id)).toBeUndefined();
  });

  const mailbox = { email: 'a@example.com', isConfirmed: false } as const;
  it.each([
    { emails: ['a@example.com'] },
    { mailboxes: [mailbox] },
    { testEmailAt: now },
  ])('are not changed as read after a change: %j', async (change) => {
    const project = newProject({ mailboxes: [{ ...mailbox, email: 'b@example.com' }] });
    await create(project, putFirstKey(newKey()));
    expect(await changeAsRead(project, change, [])).toBe(true);
    const { also, isWritten } = companion(table);
    expect(await changeAsRead(project, { testEmailAt: now + 1 }, also)).toBe(false);
    expect([await isWritten(), recordOf(await get(project.id))]).toEqual([false, { ...project, ...change }]);
  });

  it('are not resumed during a deletion', async () => {
    const project = newProject();
    await create(project, putFirstKey(newKey({ projectId: project.id })));
    const counts = { step: 0, removedInPass: 0, removed: 0 };
    await deletions(table).begin(project, { projectId: project.id, startedAt: now, ...counts });
    await expect(suspend(project.id, undefined, [])).rejects.toThrow('being deleted');
  });
});
