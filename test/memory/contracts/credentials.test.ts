import { describe, expect, it, vi } from 'vitest';
import { itemKey } from '../../../lib/aws/items.ts';
import { keysWithProject } from '../../../lib/keys/store.ts';
import { projects } from '../../../lib/projects/store.ts';
import { newKey, newProject, recordOf } from './builders.ts';
import { newStore } from './stores.ts';

const { table } = newStore();

describe('credentials', () => {
  async function given() {
    const project = newProject();
    const key = newKey({ projectId: project.id });
    await projects(table).create(project, key);
    const reads = { get: vi.fn(table.get), batchGet: vi.fn(table.batchGet) };
    return { project, key, read: keysWithProject({ ...table, ...reads }), reads };
  }

  it('reads a key with its project, and needs one request after the first read', async () => {
    const { project, key, read, reads } = await given();
    for (let i = 0; i < 3; i++) {
      const { project: found, ...record } = (await read(key.id)) ?? expect.fail('The key is missing');
      expect([recordOf(record), recordOf(found)]).toEqual([key, project]);
    }
    expect([reads.get.mock.calls.length, reads.batchGet.mock.calls.length]).toEqual([2, 2]);
  });

  it('finds no unknown key, no deleted key and no deleted project', async () => {
    const { project, key, read } = await given();
    expect(await read(newKey().id)).toBeUndefined();
    await read(key.id);
    await table.removeAll([itemKey.project(project.id)]);
    expect(await read(key.id)).toMatchObject({ id: key.id, project: undefined });
    await table.removeAll([itemKey.key(key.id)]);
    expect(await read(key.id)).toBeUndefined();
  });
});
