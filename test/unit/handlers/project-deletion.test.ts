import { describe, expect, it, vi } from 'vitest';
import { itemKey } from '../../../lib/aws/items.ts';
import { afterPass, isOwned, SETTLE_MS } from '../../../lib/projects/deletion.ts';
import { deleteProject } from '../../../lib/projects/deletion-handlers.ts';
import { newProject, newWebhook, now } from '../../memory/contracts/builders.ts';
import { memoryBackend } from '../../support/memory-table.ts';
import type { Command } from '../../support/runtime.ts';

const project = newProject({ id: 'prj_1', name: 'Acme' });
const webhook = newWebhook({ projectId: project.id, id: 'whk_new' });
const ITEMS = [
  { ...itemKey.project(project.id), ...project },
  { ...itemKey.webhook(webhook, webhook.id), ...webhook },
  { pk: 'AUDIT#prj_1', sk: '1', target: 'key_1' },
  { pk: 'AUDIT#prj_1', sk: '2', target: 'whk_old' },
  { pk: 'EVENT#prj_1#live', sk: '1' },
  { pk: 'HOOK#whk_new#0', sk: '1' },
  { pk: 'HOOK#whk_old#0', sk: '1' },
  { pk: 'KEY#1', sk: 'KEY', keysOf: project.id },
  { pk: 'KEY#2', sk: 'KEY', keysOf: project.id },
];
const OTHER = { pk: 'DOCS#prj_2#live', sk: 'kept' };

/**
 * A project in a table whose pages have one item, and two in a scan. A test sets the time that a scan takes, and can come before
 * a command.
 */
function setUp(before: (command: Command) => void = () => {}) {
  const state = { now, pageMs: 1, pages: 0 };
  const info = vi.fn();
  const keys = () => [...db.items()].map(({ pk }) => String(pk)).sort();
  const { db, ...backend } = memoryBackend(
    { clock: () => state.now, log: { info, warn() {}, error() {} } },
    (command) => {
      before(command);
      if (command.name === 'Query') return db.execute({ name: 'Query', input: { ...command.input, Limit: 1 } });
      if (command.name !== 'Scan') return undefined;
      if (state.pages++ === 0) expect(keys().filter((pk) => /^(HOOKS|KEY)#/.test(pk))).toEqual([]);
      state.now += state.pageMs;
      return db.execute({ name: 'Scan', input: { ...command.input, Limit: 2 } });
    },
  );
  for (const item of [...ITEMS, OTHER]) db.restore(item);
  const remove = deleteProject(backend);
  return {
    ...{ state, db, keys },
    logged: () => info.mock.calls,
    remove: (id = project.id) => remove(id, 'Acme'),
  };
}
const left = ['DELETION#prj_1', OTHER.pk];

describe('a call', () => {
  it('ends after ten seconds, and the next one continues at that item', async () => {
    const { state, db, keys, remove } = setUp();
    state.pageMs = 4000;
    const first = await remove();
    expect(first).toMatchObject({ state: 'deleting', items_read: 6, waits_until: null });
    expect(first.items_removed).toBeLessThan(ITEMS.length);
    const { pk, sk } = itemKey.deletion(project.id);
    expect(db.get(pk, sk)).toMatchObject({ step: 1 }); // stored once
    const waitsUntil = new Date(now + SETTLE_MS).toISOString();
    expect(await remove()).toMatchObject({ items_removed: ITEMS.length, items_read: 0, waits_until: waitsUntil });
    expect(state.pages).toBeLessThanOrEqual(5);
    expect(keys()).toEqual(left);
  });

  it('does nothing while the deletion waits, and then repeats passes until one finds nothing', async () => {
    const { state, db, keys, remove, logged } = setUp();
    await remove();
    const { pages } = state;
    await remove();
    expect(state.pages).toBe(pages);
    state.now = now + SETTLE_MS;
    db.restore({ pk: 'EVENT#prj_1#live', sk: 'late' });
    expect(await remove()).toMatchObject({ state: 'deleted', items_removed: ITEMS.length + 1 });
    expect(keys()).toEqual(left);
    expect(logged()).toEqual([
      ['project.deletion_started', { project_id: project.id, webhooks: 2 }],
      ['project.deleted', { project_id: project.id, items: ITEMS.length + 1 }],
    ]);
  });

  it('finds the deliveries of a webhook that a running request added, after a call that ended before it saved its work', async () => {
    const late = { ...webhook, id: 'whk_late' };
    let isKilled = false;
    const { state, db, keys, remove } = setUp(({ name }) => {
      if (name === 'TransactWrite')
        for (const item of [
          { ...itemKey.webhook(late, late.id), ...late },
          { pk: 'HOOK#whk_late#0', sk: '1' },
        ])
          db.restore(item);
      if (isKilled || name !== 'Scan') return;
      isKilled = true;
      throw new Error('killed');
    });
    await expect(remove()).rejects.toThrow('killed');
    await remove();
    state.now = now + SETTLE_MS;
    expect(await remove()).toMatchObject({ state: 'deleted' });
    expect(keys()).toEqual(left);
  });

  it('does not finish after a pass that started while other writers could add items', async () => {
    let isKilled = false;
    const { state, remove } = setUp(({ name }) => {
      if (isKilled || name !== 'Update') return;
      isKilled = true;
      throw new Error('killed');
    });
    await expect(remove()).rejects.toThrow('killed'); // after it removed everything
    state.pageMs = 10_000;
    await remove();
    state.now = now + SETTLE_MS;
    expect(await remove()).toMatchObject({ state: 'deleting', items_removed: 0 });
  });

  it('logs each step once if two calls run concurrently', async () => {
    const { state, remove, logged } = setUp();
    await Promise.all([remove(), remove()]);
    state.now = now + SETTLE_MS;
    const both = await Promise.all([remove(), remove()]);
    expect(both.map((deletion) => deletion.state)).toContain('deleted');
    expect(logged().map(([event]) => event)).toEqual(['project.deletion_started', 'project.deleted']);
  });

  it('fails for a project that does not exist, or that changes at the same time', async () => {
    const renamed = { ...itemKey.project(project.id), ...project, name: 'Renamed' };
    const { db, remove } = setUp(({ name }) => name === 'TransactWrite' && db.restore(renamed));
    await expect(remove('prj_none')).rejects.toThrow('There is no project prj_none');
    await expect(remove()).rejects.toThrow('The project has changed. Repeat the request');
  });
});

it.each([
  ['PROJECT#prj_1', true],
  ['HOOKS#prj_1#sandbox', true],
  ['HOOK#whk_1#0', true],
  ['PROJECT#prj_12', false],
  ['HOOK#whk_12#0', false],
  ['HOOK#prj_1#0', false],
  ['AUDIT#whk_1', false],
  ['DELETION#prj_1', false],
  ['VERSION#LAYOUT', false],
  ['KEY#prj_1', false],
])('an item with the partition key %s belongs to the project: %s', (pk, expected) => {
  expect(isOwned(pk, 'prj_1', new Set(['whk_1']))).toBe(expected);
});

it('is complete after a pass that started after all other writers and found no item', () => {
  const saved = { projectId: project.id, startedAt: now, webhooks: [], step: 1, removed: 0, read: 0 };
  const late = now + SETTLE_MS;
  const completedAt = (passAt: number, removedInPass: number) =>
    afterPass({ ...saved, passAt, removedInPass }, late + 1).completedAt;
  expect([completedAt(late, 0), completedAt(late, 1), completedAt(late - 1, 0)]).toEqual([
    late + 1,
    undefined,
    undefined,
  ]);
});
