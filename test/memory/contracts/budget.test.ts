import { describe, expect, it } from 'vitest';
import type { Backend } from '../../../lib/aws/backend.ts';
import { itemKey } from '../../../lib/aws/items.ts';
import type { Table } from '../../../lib/aws/table.ts';
import { deliveryCounter } from '../../../lib/deliveries/budget-store.ts';
import { putFirstKey } from '../../../lib/keys/store.ts';
import { projects } from '../../../lib/projects/store.ts';
import { VARIABLES } from '../../support/runtime.ts';
import { HOUR_MS, newKey, newProject, now } from './builders.ts';
import { newStore } from './stores.ts';

const { table, lossy } = newStore();

async function createProject(): Promise<string> {
  const project = newProject();
  await projects(table).create(project, putFirstKey(newKey({ projectId: project.id })));
  return project.id;
}

describe('the count of deliveries', () => {
  let time = now;
  /** A new execution environment of the fan-out, with a budget of ten deliveries per second. */
  const newCounter = (on: Table = table) => {
    const variables = { ...VARIABLES, DELIVERIES_PER_SECOND: '10' };
    const failures: unknown[] = [];
    const reportFailure = (...args: unknown[]) => void failures.push(args);
    const backend = { table: on, clock: () => time, variables, reportFailure } as unknown as Backend;
    return { ...deliveryCounter(backend), failures };
  };
  const count = async (projectId: string, deliveries: number, on?: Table) => {
    const { add, save, failures } = newCounter(on);
    add(projectId, deliveries);
    await save();
    expect(failures).toEqual([]);
  };
  /** The seconds for which the budget is used up from now on. */
  const usedSeconds = async (projectId: string) =>
    ((await projects(table).existing(projectId)).deliveriesUsedUntil ?? time) / 1000 - time / 1000;

  it('adds up what concurrent writers count, in a new project and after a pause', async () => {
    const id = await createProject();
    const all = () => Promise.all(Array.from({ length: 12 }, () => count(id, 20)));
    await all();
    expect(await usedSeconds(id)).toBe(24);
    time += HOUR_MS;
    await all();
    expect(await usedSeconds(id)).toBe(24);
    time += 4000;
    await count(id, 5);
    expect(await usedSeconds(id)).toBe(20.5);
  });

  it('is the sum of several batches', async () => {
    const id = await createProject();
    const { add, save } = newCounter();
    for (const deliveries of [3, 4, 5]) {
      add(id, deliveries);
      await save();
    }
    expect(await usedSeconds(id)).toBeCloseTo(1.2);
  });

  it('is correct after the response to a write of an idle project was lost, and at most twice as high otherwise', async () => {
    const id = await createProject();
    await count(id, 10, lossy);
    expect(await usedSeconds(id)).toBe(1);
    await count(id, 10, lossy);
    expect(await usedSeconds(id)).toBe(3);
  });

  it('lets a project publish again after an hour, whatever was counted', async () => {
    const id = await createProject();
    await count(id, 10 * 3600);
    await count(id, 10);
    expect(await usedSeconds(id)).toBe(3601);
    await count(id, 1e6);
    expect(await usedSeconds(id)).toBe(3601);
  });

  it('creates no project, and counts the others', async () => {
    const id = await createProject();
    const { add, save, failures } = newCounter();
    add('prj_deleted', 10);
    add(id, 10);
    await save();
    expect(await table.get(itemKey.project('prj_deleted'))).toBeUndefined();
    expect([await usedSeconds(id), failures]).toEqual([1, []]);
  });

  it('changes nothing else of the project', async () => {
    const id = await createProject();
    const before = await projects(table).existing(id);
    await count(id, 10);
    expect(await projects(table).existing(id)).toEqual({ ...before, deliveriesUsedUntil: expect.any(Number) });
  });

  it('forgets deliveries that are not worth a write after a minute', async () => {
    const id = await createProject();
    const wide = { ...VARIABLES, DELIVERIES_PER_SECOND: '1000' };
    const backend = { table, clock: () => time, variables: wide } as unknown as Backend;
    const { add, save } = deliveryCounter(backend);
    for (let i = 0; i < 3; i++) {
      add(id, 99);
      time += 60_000;
      await save();
    }
    expect(await usedSeconds(id)).toBe(0);
  });
});
