import { randomBytes as random } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { cursorsOf, openCursor } from '../../../lib/http/cursor-store.ts';
import { apiKeys } from '../../../lib/keys/store.ts';
import { projectData } from '../../../lib/projects/data-store.ts';
import { projects } from '../../../lib/projects/store.ts';
import { newKey, newProject, now, recordOf } from './builders.ts';
import { companion, newStore } from './stores.ts';

const { table, lossy } = newStore();

describe('projects', () => {
  const { create, get, change, changeAsRead } = projects(table);
  const keys = apiKeys(table);

  it('are rejected with an existing id, and no key is created', async () => {
    const project = newProject();
    await create(project, newKey());
    const key = newKey();
    await expect(create({ ...project, name: 'Other' }, key)).rejects.toThrow('taken');
    expect(recordOf(await get(project.id))).toEqual(project);
    expect(await keys.get(key.id)).toBeUndefined();
  });

  it('are rejected with an existing key id, and no project is created', async () => {
    const [project, key] = [newProject(), newKey()];
    await keys.create(key, []);
    await expect(create(project, { ...key, name: 'Other' })).rejects.toThrow('taken');
    expect(await get(project.id)).toBeUndefined();
    expect(recordOf(await keys.get(key.id))).toEqual(key);
  });

  it('are not changed if they are missing', async () => {
    const { id } = newProject();
    await expect(change(id, { name: 'New' }, [])).rejects.toThrow('gone');
    expect(await get(id)).toBeUndefined();
  });

  describe('a change of what was read', () => {
    const mark = { email: 'a@example.com', reason: 'bounced', at: now } as const;

    it.each([{ undeliverable: [mark] }, { testEmailAt: now }])('is not made after a change: %j', async (change) => {
      const project = newProject({ undeliverable: [{ ...mark, email: 'b@example.com' }] });
      await create(project, newKey());
      expect(await changeAsRead(project, change, [])).toBe(true);
      const { also, isWritten } = companion(table);
      expect(await changeAsRead(project, { testEmailAt: now + 1 }, also)).toBe(false);
      expect([await isWritten(), recordOf(await get(project.id))]).toEqual([false, { ...project, ...change }]);
    });

    it('is made by one of two concurrent requests, and after a lost response', async () => {
      const project = newProject();
      await create(project, newKey());
      const made = await Promise.all([1, 2].map((at) => changeAsRead(project, { testEmailAt: at }, [])));
      expect(made.filter(Boolean)).toHaveLength(1);
      const read = (await get(project.id)) ?? project;
      expect(await projects(lossy).changeAsRead(read, { testEmailAt: now }, [])).toBe(true);
    });
  });

  describe('a deletion', () => {
    const { beginDeletion, saveDeletion, deletion } = projectData(table);
    const counts = { step: 0, removedInPass: 0, removed: 0, read: 0 };
    const started = async () => {
      const project = newProject();
      await create(project, newKey({ projectId: project.id }));
      return { project, record: { projectId: project.id, startedAt: now, webhooks: [], ...counts } };
    };

    it('begins once, and not after the project was renamed', async () => {
      const { project, record } = await started();
      expect(await beginDeletion({ ...project, name: 'Old name' }, record)).toBe(false);
      expect(await deletion(project.id)).toBeUndefined();
      expect(await Promise.all([1, 2].map(() => beginDeletion(project, record)))).toEqual(
        expect.arrayContaining([true, false]),
      );
    });

    it('saves one of two concurrent steps', async () => {
      const { project, record } = await started();
      await beginDeletion(project, record);
      const saved = await Promise.all([1, 2].map((removed) => saveDeletion(record, { ...record, removed })));
      expect(saved).toEqual(expect.arrayContaining([true, false]));
      expect(await deletion(project.id)).toMatchObject({ step: 1, removed: saved[0] ? 1 : 2 });
    });
  });

  describe('cursors', () => {
    it('are encrypted with the secret of their project', async () => {
      const project = newProject({ cursorSecret: 'of this project' });
      await create(project, newKey());
      const { seal, open } = cursorsOf(table, random);
      const sealed = await seal(project.id, 'scope', 'position');
      expect(openCursor('of this project', 'scope', sealed)).toBe('position');
      expect(await open(project.id, 'scope', sealed)).toBe('position');
    });
  });
});
