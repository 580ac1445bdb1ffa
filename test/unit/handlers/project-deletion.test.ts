import { describe, expect, it, vi } from 'vitest';
import { type ItemKey, itemKey } from '../../../lib/aws/items.ts';
import { partitionsOfProject, partitionsOfWebhook } from '../../../lib/aws/partitions.ts';
import { newEvents } from '../../../lib/events/event.ts';
import { putEvents } from '../../../lib/events/store.ts';
import { derivedFrom } from '../../../lib/ids.ts';
import { deleteProject } from '../../../lib/operators/delete-project.ts';
import { afterPage, SETTLE_MS } from '../../../lib/operators/deletion.ts';
import { sectionsOf } from '../../../lib/operators/deletion-store.ts';
import { newProject, newWebhook, now } from '../../memory/contracts/builders.ts';
import { memoryBackend } from '../../support/memory-table.ts';
import type { Command } from '../../support/runtime.ts';

const project = newProject({ id: 'prj_1', name: 'Acme' });
const webhook = newWebhook({ projectId: project.id, id: 'whk_new' });
const SPACE = { projectId: project.id, environment: 'sandbox' } as const;
const KEYS = ['1', '2'].map((id) => ({ ...itemKey.key(id), keysOf: project.id }));
/** The items of a publication in which every third event is of another type, or of a test of a webhook. */
function eventsOf(name: string, count: number, webhookId?: string) {
  const lost = { type: 'connection.lost', data: {} } as const;
  const events = Array.from({ length: count }, (_, i) =>
    i % 3 === 2 ? lost : ({ type: 'document.changed', data: { document_key: `a:${i}` } } as const),
  );
  const space = { projectId: project.id, environment: 'live', at: now } as const;
  const given = newEvents(
    space,
    events.map((event) => ({ ...event, ...(webhookId && { webhookId }) })),
    derivedFrom(name),
  );
  return putEvents(given).map(
    (write) => JSON.parse(JSON.stringify((write as { Put: { Item: ItemKey } }).Put.Item)) as ItemKey,
  );
}

const ITEMS = [
  { ...itemKey.project(project.id), ...project },
  { ...itemKey.webhook(webhook, webhook.id), ...webhook },
  { pk: 'AUDIT#prj_1', sk: '1', target: 'key_1' },
  { pk: 'AUDIT#prj_1', sk: '2', target: 'whk_old' },
  ...eventsOf('batch', 7),
  ...eventsOf('test', 1, 'whk_new'),
  ...KEYS,
  itemKey.usableKeys(project.id),
  itemKey.connection(SPACE, 'read#phone'),
  itemKey.sync(SPACE, 'cycle 1'),
  itemKey.idempotency(SPACE, 'hash'),
  itemKey.log(project.id, 'whk_new'),
  itemKey.log(project.id, 'whk_old'),
  itemKey.log(project.id, 'whk_idle'),
  itemKey.delivery('whk_new', 'evt_1'),
  itemKey.delivery('whk_old', 'evt_1'),
  itemKey.stats('whk_old', 'day', now),
  itemKey.slots('whk_old'),
];
const LISTED = itemKey.listedProject(project.id);
const OTHERS = [
  itemKey.listedProject('prj_2'),
  itemKey.document({ ...SPACE, projectId: 'prj_12' }, 'kept'),
  itemKey.delivery('whk_older', 'evt_1'),
  itemKey.log('prj_2', 'whk_older'),
];

/** A project in a table whose queries read at most two items. A test sets the time that a query takes, and can come before a command. */
function setUp(before: (command: Command) => void = () => {}) {
  const state = { now, queryMs: 1, queries: 0 };
  const info = vi.fn();
  const keys = () => [...db.items()].map(({ pk, sk }) => `${pk} ${sk}`).sort();
  const { db, ...backend } = memoryBackend(
    { clock: () => state.now, log: { info, warn() {}, error() {} } },
    (command) => {
      before(command);
      if (command.name !== 'Query') return undefined;
      state.queries++;
      state.now += state.queryMs;
      return db.execute({ name: 'Query', input: { ...command.input, Limit: Math.min(2, command.input.Limit) } });
    },
  );
  for (const item of [...ITEMS, LISTED, ...OTHERS]) db.restore({ ...item });
  const remove = deleteProject(backend);
  return {
    ...{ state, db, keys },
    logged: () => info.mock.calls,
    remove: (id = project.id) => remove(id, 'Acme'),
  };
}
const left = [itemKey.deletion('prj_1'), ...OTHERS].map(({ pk, sk }) => `${pk} ${sk}`).sort();
/** After the first pass, the ids of webhooks and the entry in the list of projects are left. */
const leftOfPass = [
  ...left,
  ...[LISTED, ...ITEMS.filter(({ pk }) => pk.startsWith('LOGS#'))].map(({ pk, sk }) => `${pk} ${sk}`),
];
const REMOVED = ITEMS.length - 3;

describe('a call', () => {
  it('revokes the credentials before it reads anything that the project contains', async () => {
    const { remove, db } = setUp(({ name }) => {
      if (name !== 'Query') return;
      expect(db.get(...keyOf(itemKey.project(project.id)))).toMatchObject({ suspendedAt: now, deletingAt: now });
      throw new Error('killed');
    });
    await expect(remove()).rejects.toThrow('killed');
    expect.assertions(2);
  });

  it('removes webhooks and keys before everything else', async () => {
    const kinds: string[] = [];
    const { remove } = setUp(({ name, input }) => {
      if (name === 'Delete') kinds.push(input.Key.pk.split('#')[0]);
    });
    await remove();
    expect(kinds.slice(0, 3)).toEqual(['HOOKS', 'KEY', 'KEY']);
  });

  it('ends after ten seconds, and the next one continues there', async () => {
    const { state, db, keys, remove } = setUp();
    state.queryMs = 4000;
    expect(await remove()).toMatchObject({ state: 'deleting', items_removed: 3, waits_until: null });
    expect(db.get(...keyOf(itemKey.deletion(project.id)))).toMatchObject({
      step: 1, // stored once
      section: 'keys',
      after: { pk: 'KEY#2' },
    });
    state.queryMs = 1;
    const waitsUntil = new Date(now + SETTLE_MS).toISOString();
    expect(await remove()).toMatchObject({ items_removed: REMOVED, waits_until: waitsUntil });
    expect(keys()).toEqual(leftOfPass.sort());
  });

  it.each([
    'whk_idle',
    'whk_new',
    'whk_old',
  ])('continues with a webhook that has more items than one step removes: %s', async (id) => {
    const { db, keys, remove } = setUp();
    for (let hours = 1; hours <= 5; hours++) db.restore({ ...itemKey.stats(id, 'hour', now - hours * 3_600_000) });
    expect(await remove()).toMatchObject({ items_removed: REMOVED + 5, waits_until: expect.any(String) });
    expect(keys()).toEqual(leftOfPass.sort());
  });

  it('does nothing while the deletion waits, and then repeats passes until one finds nothing', async () => {
    const { state, db, keys, remove, logged } = setUp();
    await remove();
    const { queries } = state;
    await remove();
    expect(state.queries).toBe(queries);
    state.now = now + SETTLE_MS;
    const [late] = eventsOf('late', 1);
    db.restore({ ...late });
    expect(await remove()).toMatchObject({ state: 'deleted', items_removed: ITEMS.length + 1 });
    expect(keys()).toEqual(left);
    expect(logged()).toEqual([
      ['project.deletion_started', { project_id: project.id }],
      ['project.deleted', { project_id: project.id, items: ITEMS.length + 1 }],
    ]);
  });

  it('finds what a running request added, also of a webhook that it created', async () => {
    const late = { ...webhook, id: 'whk_late' };
    const added = [
      { ...itemKey.webhook(late, late.id), ...late },
      itemKey.log(project.id, late.id),
      itemKey.delivery(late.id, 'evt_2'),
      itemKey.delivery('whk_idle', 'evt_2'),
      itemKey.connection(SPACE, 'late'),
      { ...itemKey.key('3'), keysOf: project.id },
    ];
    let isAdded = false;
    const { state, db, keys, remove } = setUp(({ name }) => {
      if (name !== 'Update' || isAdded) return;
      isAdded = true; // after the first pass, when its end is saved
      for (const item of added) db.restore({ ...item });
    });
    await remove();
    state.now = now + SETTLE_MS;
    expect(await remove()).toMatchObject({ state: 'deleted', items_removed: ITEMS.length + added.length });
    expect(keys()).toEqual(left);
  });

  it('keeps the id of a webhook of which the last pass found something, because more can follow', async () => {
    const { state, db, keys, remove } = setUp();
    await remove();
    state.now = now + SETTLE_MS;
    state.queryMs = 2500; // a call ends within the logs
    db.restore({ ...itemKey.stats('whk_old', 'hour', now) });
    await remove();
    expect(keys()).toContain('LOGS#prj_1 whk_old');
    expect(keys()).not.toContain('LOGS#prj_1 whk_new');
    db.restore({ ...itemKey.stats('whk_old', 'hour', now + 3_600_000) });
    state.queryMs = 1;
    while ((await remove()).state !== 'deleted');
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
    state.queryMs = 10_000;
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

const keyOf = ({ pk, sk }: { pk: string; sk: string }) => [pk, sk] as const;

describe('the partitions of a project and of a webhook', () => {
  const [id, hook] = [project.id, webhook.id];

  it.each<[string, { pk: string }]>([
    ['its project', itemKey.project(id)],
    ['the budget of its emails', itemKey.emails(id)],
    ['its usable keys', itemKey.usableKeys(id)],
    ['its audit log', itemKey.audit(id, 'aud_1')],
    ['its webhooks', itemKey.webhook(SPACE, hook)],
    ['the count of its webhooks', itemKey.webhookCount(SPACE)],
    ['its documents', itemKey.document(SPACE, 'a:1')],
    ['its revisions', itemKey.revision(SPACE, 'a:1')],
    ...Array.from({ length: 40 }, (_, i): [string, { pk: string }] => [
      `a connection ${i}`,
      itemKey.connection(SPACE, `${i}`),
    ]),
    ['its cycles', itemKey.sync(SPACE, 'cycle')],
    ['its idempotency records', itemKey.idempotency(SPACE, 'hash')],
  ])('contain %s', (_, { pk }) => expect(partitionsOfProject(id)).toContain(pk));

  it.each([
    ['deliveries', itemKey.delivery(hook, 'evt_1')],
    ['stats', itemKey.stats(hook, 'hour', now)],
    ['the rate limit', itemKey.slots(hook)],
  ])('contain %s of a webhook', (_, { pk }) => expect(partitionsOfWebhook(hook)).toContain(pk));

  it('contain nothing of others, and not the ids of webhooks, which a later pass needs', () => {
    for (const pk of partitionsOfProject(id)) expect(pk.split('#')[1]).toBe(id);
    for (const pk of partitionsOfWebhook(hook)) expect(pk.split('#')[1]).toBe(hook);
    expect(partitionsOfProject(id)).not.toContain(itemKey.log(id, hook).pk);
    expect(sectionsOf(id).slice(0, 4)).toEqual(['HOOKS#prj_1#live', 'HOOKS#prj_1#sandbox', 'keys', 'logs']);
  });
});

it('is complete after a pass that started after all other writers and found no item', () => {
  const saved = { projectId: project.id, startedAt: now, step: 1, removed: 0, section: 'last' };
  const late = now + SETTLE_MS;
  const completedAt = (passAt: number, removedInPass: number, found = 0) =>
    afterPage({ ...saved, passAt, removedInPass }, { found, ids: 1, isLast: true }, ['first', 'last'], late + 1)
      .completedAt;
  expect(completedAt(late, 0)).toBe(late + 1);
  expect([completedAt(late, 1), completedAt(late, 0, 1), completedAt(late - 1, 0)]).toEqual([
    undefined,
    undefined,
    undefined,
  ]);
});
