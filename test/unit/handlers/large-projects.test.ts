import { describe, expect, it } from 'vitest';
import { type Item, type ItemKey, itemKey } from '../../../lib/aws/items.ts';
import { WORK_MS } from '../../../lib/operators/delete-project.ts';
import { SETTLE_MS } from '../../../lib/operators/deletion.ts';
import { CALL_MS } from '../../../lib/operators/store.ts';
import { memoryService } from '../../support/memory-service.ts';
import { createWebhook, publish } from '../../support/requests.ts';
import { type Command, isRead } from '../../support/runtime.ts';
import type { Project } from '../../support/service.ts';

const service = memoryService();
const { administer, db, clock, faults } = service;

/** So many ids of webhooks exceed the size of an item. */
const DELETED_WEBHOOKS = 13_450;
const REVOKED_KEYS = 10_000;
const PROJECTS = 1000;

const copyOf = (id: string, i: number): string => id.slice(0, -5) + String(i).padStart(5, '0');

/** Adds webhooks that were created and deleted, as one of them is stored. */
async function addDeletedWebhooks(project: Project, count: number): Promise<void> {
  const live = await project.client('live');
  const { id } = await createWebhook(live, service.endpoint().url);
  await live('DELETE', `/v1/webhooks/${id}`);
  const stored = [...db.items()].filter((item) => item.sk === id || item.target === id);
  expect(stored.map(({ pk }) => pk).sort()).toEqual([
    `AUDIT#${project.id}`,
    `AUDIT#${project.id}`,
    `LOGS#${project.id}`,
  ]);
  const copies = (item: Item) => Array.from({ length: count }, (_, i) => ({ ...item, sk: copyOf(String(item.sk), i) }));
  for (const copy of stored.flatMap(copies)) db.restore(copy);
}

/** Adds revoked keys, as one of them is stored. */
async function addRevokedKeys({ id, admin, key }: Project, count: number): Promise<void> {
  await admin('POST', `/v1/keys/${await key('live')}/revoke`);
  const revoked = [...db.items()].find(({ keysOf, revokedAt }) => keysOf === id && revokedAt !== undefined);
  for (let i = 0; i < count; i++) db.restore({ ...revoked, pk: copyOf(String(revoked?.pk), i) });
}

/** Performs an operation, and counts its commands. `ms` is the time that each of them takes. */
async function counted(operation: object, ms = 0, observe: (input: Command['input']) => void = () => {}) {
  const [counts, started] = [{ reads: 0, writes: 0 }, clock.now()];
  faults.command = (name, input) => {
    observe(input);
    counts[isRead(name) ? 'reads' : 'writes']++;
    clock.skip(ms);
    return undefined;
  };
  const result = (await administer(operation)) as Record<string, unknown>;
  delete faults.command;
  return { ...counts, result, ms: clock.now() - started };
}

/** Repeats an operation until its last page. Returns the number of its reads. */
async function readsOfPages(operation: object): Promise<number> {
  let sum = 0;
  for (let after: unknown; after !== null; ) {
    const { reads, result } = await counted({ ...operation, ...(after !== undefined && { after }) });
    sum += reads;
    after = result.next;
  }
  return sum;
}

const stored = ({ pk, sk }: ItemKey) => db.get(pk, sk);

describe('a project with many deleted webhooks', () => {
  it('is deleted in steps of a limited length, each of which continues after the last one', async () => {
    const project = await service.project('Large');
    const live = await project.client('live');
    await addDeletedWebhooks(project, DELETED_WEBHOOKS);
    const remove = { operation: 'delete', id: project.id, name: 'Large' };
    let position = '';
    for (let call = 0; call < 3; call++) {
      const { result, ms, reads } = await counted(remove, 5);
      expect(result).toMatchObject({ state: 'deleting', waits_until: null });
      expect((await live('GET', '/v1/documents/d:1')).status).toBe(401);
      expect([ms < WORK_MS + 1000, reads < 2200]).toEqual([true, true]);
      const { section, after } = stored(itemKey.deletion(project.id)) as { section: string; after: ItemKey };
      expect([section, after.sk > position]).toEqual(['logs', true]);
      position = after.sk;
    }
    expect(JSON.stringify(stored(itemKey.deletion(project.id))).length).toBeLessThan(1000);
  });

  it('is deleted with at most 19 reads for each of them in each of two passes', async () => {
    const project = await service.project('Large');
    const others = [...db.items()].length;
    await addDeletedWebhooks(project, 300);
    const remove = { operation: 'delete', id: project.id, name: 'Large' };
    const first = await counted(remove);
    clock.skip(SETTLE_MS);
    const second = await counted(remove);
    expect(second.result).toMatchObject({ state: 'deleted' });
    for (const { reads } of [first, second]) expect(reads).toBeLessThan(300 * 19 + 400);
    expect([...db.items()].length).toBeLessThan(others);
  });

  it('is exported in pages of a limited length, each of which continues after the last one', async () => {
    const project = await service.project();
    await addDeletedWebhooks(project, 20_000);
    const positions: ItemKey[] = [];
    let after: object | undefined = { section: 'logs' };
    for (let page = 0; page < 3; page++) {
      const { reads, result } = await counted({ operation: 'export', id: project.id, after });
      expect(reads).toBeLessThan(700);
      after = result.next as { section: string; after: ItemKey };
      positions.push((after as { after: ItemKey }).after);
    }
    expect(positions.map(({ sk }) => sk)).toEqual([...new Set(positions.map(({ sk }) => sk))].sort());
  });

  it('is exported with the deliveries of a webhook that follows them', async () => {
    const project = await service.project();
    await addDeletedWebhooks(project, 100);
    const live = await project.client('live');
    const { id } = await createWebhook(live, service.endpoint().url);
    await publish(live);
    await service.settle();
    await live('DELETE', `/v1/webhooks/${id}`);
    const lines: string[] = [];
    for (let after: unknown; after !== null; ) {
      const page = (await administer({
        operation: 'export',
        id: project.id,
        ...(after !== undefined && { after }),
      })) as {
        lines: string[];
        next: object | null;
      };
      lines.push(...page.lines);
      after = page.next;
    }
    const deliveries = lines.map((line) => JSON.parse(line)).filter(({ type }) => type === 'delivery');
    expect(deliveries.map(({ data }) => data.webhook_id)).toEqual([id]);
  });
});

describe('a command of the operator', () => {
  it('costs as much with many revoked keys and webhooks as without, also about another project', async () => {
    const [project, other] = [await service.project(), await service.project()];
    const items = [...db.items()].filter((item) => JSON.stringify(item).includes(other.id));
    const keyId = String(items.find(({ keysOf }) => keysOf === other.id)?.id);
    for (let i = 0; i < PROJECTS; i++) {
      const copies = (text: string, id: string) => text.replaceAll(id, copyOf(id, i));
      for (const item of items) db.restore(JSON.parse(copies(copies(JSON.stringify(item), other.id), keyId)));
    }
    const readsOfCommands = async () => {
      const reads: number[] = [];
      for (const operation of ['list', 'enable-webhooks'])
        reads.push(await readsOfPages({ operation, ...(operation !== 'list' && { since: '2026-01-01T00:00:00Z' }) }));
      for (const { id } of [project, other])
        for (const operation of ['show', 'suspend', 'suspend', 'resume', 'create-key'])
          reads.push((await counted({ operation, id })).reads);
      reads.push(await readsOfPages({ operation: 'export', id: other.id }));
      return reads;
    };
    const before = await readsOfCommands();
    await addRevokedKeys(project, REVOKED_KEYS);
    await addDeletedWebhooks(project, 1000);
    expect(await readsOfCommands()).toEqual(before);
    expect(before[0]).toBeLessThan(6 * PROJECTS);
  });

  it.each([
    'list',
    'enable-webhooks',
  ])('%s ends after 20 seconds, and continues with the next project', async (operation) => {
    const window = operation === 'list' ? {} : { since: '2026-01-01T00:00:00Z' };
    const projectsOf = (input: Command['input']) =>
      /"pk":"PROJECT#(prj_\w+)"/.exec(JSON.stringify(input.Key ?? {}))?.[1];
    const seen: string[] = [];
    let after: unknown;
    for (let calls = 0; after !== null && calls < 5; calls++) {
      const { result, ms } = await counted(
        { operation, ...window, ...(after !== undefined && { after }) },
        3000,
        (input) => {
          const id = projectsOf(input);
          if (id) seen.push(id);
        },
      );
      expect(ms).toBeLessThan(CALL_MS + 20_000); // a project is completed
      expect(result.next).toEqual({ id: seen.at(-1) });
      after = result.next;
    }
    expect(seen.length).toBeGreaterThan(5);
    expect(seen).toEqual([...new Set(seen)].sort());
  });

  it('deletes a project with many revoked keys, and others need as many reads as before', async () => {
    const project = await service.project('Large');
    await addRevokedKeys(project, REVOKED_KEYS);
    const smaller = await service.project('Small');
    const { reads } = await counted({ operation: 'delete', id: smaller.id, name: 'Small' });
    const large = await counted({ operation: 'delete', id: project.id, name: 'Large' });
    expect(large.reads - reads).toBe(REVOKED_KEYS / 1000);
    expect(large.result).toMatchObject({ state: 'deleting', items_removed: expect.any(Number) });
    expect([...db.items()].filter(({ keysOf }) => keysOf === project.id)).toEqual([]);
  });

  it.each(['suspend', 'resume'])('does nothing after it took effect: %s', async (operation) => {
    const { id } = await service.project();
    if (operation === 'resume') await administer({ operation: 'suspend', id });
    let isDone = false;
    faults.command = (name) => {
      if (isDone) return new Error('There is another command');
      isDone = name === 'TransactWrite';
      return undefined;
    };
    const state = operation === 'suspend' ? 'suspended' : 'active';
    expect(await administer({ operation, id })).toMatchObject({ id, state, name: 'Test' });
    expect(isDone).toBe(true);
    delete faults.command;
  });
});
