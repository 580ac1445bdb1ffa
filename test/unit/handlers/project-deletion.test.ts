import { describe, expect, it, vi } from 'vitest';
import type { ProjectData } from '../../../lib/projects/data-store.ts';
import { deleteProject } from '../../../lib/projects/delete-project.ts';
import { type DeletionRecord, SETTLE_MS } from '../../../lib/projects/deletion.ts';
import { newProject, now } from '../../memory/contracts/builders.ts';

const project = newProject({ id: 'prj_1', name: 'Acme' });

/** A project in a table whose pages have two items. A test sets the time that a page takes, and sees the order of the commands. */
function setUp() {
  const state = { now, pageMs: 1, stored: undefined as DeletionRecord | undefined };
  const items = new Set([
    'AUDIT#prj_1 1',
    'DOCS#prj_2#live kept',
    'EVENT#prj_1#live 1',
    'HOOK#whk_new#0 1',
    'HOOK#whk_old#0 1',
    'HOOKS#prj_1#live whk_new',
    'KEY#1 KEY',
    'PROJECT#prj_1 PROJECT',
  ]);
  const commands: string[] = [];
  const log = vi.fn();
  const startingWith = (start: string) => keysOf([...items].filter((item) => item.startsWith(start)));
  const data = {
    webhookIds: async () => ['whk_old'],
    deletion: async () => state.stored,
    beginDeletion: vi.fn(async (_: object, deletion: DeletionRecord) => {
      state.stored = deletion;
      return true;
    }),
    saveDeletion: vi.fn(async (read: DeletionRecord, next: DeletionRecord) => {
      commands.push('save');
      if (state.stored?.step !== read.step) return false;
      state.stored = { ...next, step: read.step + 1 };
      return true;
    }),
    async itemKeys(after: object | undefined) {
      commands.push('page');
      state.now += state.pageMs;
      const left = [...items].sort().filter((item) => !after || item > Object.values(after).join(' '));
      const keys = keysOf(left.slice(0, 2));
      return { keys, next: left.length > 2 ? keys.at(-1) : undefined };
    },
    async webhookItems() {
      commands.push('webhooks');
      return startingWith('HOOKS#');
    },
    async apiKeyItems() {
      commands.push('keys');
      return startingWith('KEY#');
    },
    async remove(keys: readonly { pk: string; sk: string }[]) {
      for (const { pk, sk } of keys) items.delete(`${pk} ${sk}`);
    },
  };
  const projects = { get: async (id: string) => (id === project.id ? project : undefined) };
  const remove = deleteProject({
    projects,
    data: data as unknown as ProjectData,
    clock: () => state.now,
    log: { info: log },
  });
  return {
    state,
    items,
    data,
    logged: () => log.mock.calls,
    remove: (id = project.id) => remove(id, 'Acme'),
    /** The commands since the last call. */
    commands: () => commands.splice(0),
  };
}

const keysOf = (items: string[]) =>
  items.map((item) => {
    const [pk = '', sk = ''] = item.split(' ');
    return { pk, sk };
  });

describe('a call', () => {
  it('ends after ten seconds, and the next one continues at that item', async () => {
    const { state, items, remove, commands } = setUp();
    state.pageMs = 5000;
    expect(await remove()).toMatchObject({ state: 'deleting', items_removed: 5, items_read: 4, waits_until: null });
    expect(commands()).toEqual(['webhooks', 'keys', 'page', 'page', 'save']);
    expect(state.stored).toEqual({
      projectId: project.id,
      startedAt: now,
      webhooks: ['whk_old', 'whk_new'],
      step: 1,
      passAt: now,
      after: { pk: 'HOOK#whk_new#0', sk: '1' },
      removedInPass: 5,
      removed: 5,
      read: 4,
    });
    const waitsUntil = new Date(now + SETTLE_MS).toISOString();
    expect(await remove()).toMatchObject({ items_removed: 7, items_read: 0, waits_until: waitsUntil });
    expect(commands()).toEqual(['page', 'save']);
    expect([...items]).toEqual(['DOCS#prj_2#live kept']);
  });

  it('does nothing while the deletion waits, and then repeats passes until one finds nothing', async () => {
    const { state, items, remove, commands, logged } = setUp();
    await remove();
    const afterFirst = commands();
    expect(afterFirst).toEqual(['webhooks', 'keys', 'page', 'page', 'page', 'save']);
    await remove();
    expect(commands()).toEqual([]);
    state.now = now + SETTLE_MS;
    items.add('EVENT#prj_1#live late');
    expect(await remove()).toMatchObject({ state: 'deleted', items_removed: 8 });
    const pass = ['webhooks', 'keys', 'page', 'save'];
    expect(commands()).toEqual([...pass, ...pass]);
    expect(logged()).toEqual([
      ['project.deletion_started', { project_id: project.id, webhooks: 1 }],
      ['project.deleted', { project_id: project.id, items: 8 }],
    ]);
  });

  it('logs nothing about a step that a concurrent call saved', async () => {
    const { state, data, remove, logged } = setUp();
    data.beginDeletion.mockImplementationOnce(async (_, deletion) => {
      state.stored = { ...deletion, startedAt: now - SETTLE_MS };
      return false;
    });
    data.saveDeletion.mockImplementation(async (_, next) => {
      state.stored = next;
      return false;
    });
    expect(await remove()).toMatchObject({ state: 'deleted' });
    expect(logged()).toEqual([]);
  });

  it('fails for a project that does not exist, or that changes at the same time', async () => {
    const { data, remove } = setUp();
    await expect(remove('prj_none')).rejects.toThrow('There is no project prj_none');
    data.beginDeletion.mockResolvedValueOnce(false);
    await expect(remove()).rejects.toThrow('The project has changed. Repeat the request');
  });
});
