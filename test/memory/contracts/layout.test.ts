import { describe, expect, it } from 'vitest';
import { put } from '../../../lib/aws/expressions.ts';
import { LAYOUT, LAYOUT_KEY } from '../../../lib/deployment.ts';
import { UnavailableError } from '../../../lib/errors.ts';
import { projects } from '../../../lib/projects/store.ts';
import { newKey, newProject } from './builders.ts';
import { newStore } from './stores.ts';

const { table, checked } = newStore();

describe('a table', () => {
  const setLayout = (layout: number) => table.write([put({ ...LAYOUT_KEY, layout })]);
  const key = { pk: 'TEST#1', sk: 'TEST' };

  it('accepts commands without a layout', async () => {
    expect(await checked().get(key)).toBeUndefined();
    expect(await checked().write([put({ ...key })])).toEqual([]);
  });

  it('gets the layout of the release with its first project', async () => {
    await projects(table).create(newProject(), newKey());
    await projects(table).create(newProject(), newKey());
    expect(await table.get(LAYOUT_KEY)).toMatchObject({ layout: LAYOUT });
    expect(await checked().get(key)).toEqual(key);
  });

  it.each([LAYOUT - 1, LAYOUT + 1])('rejects every command while it has the layout %i', async (layout) => {
    await setLayout(layout);
    const { get, batchGet, query, write } = checked();
    const other = { pk: 'TEST#2', sk: 'TEST' };
    const listing = { KeyConditionExpression: 'pk = :pk', ExpressionAttributeValues: { ':pk': key.pk } };
    for (const command of [
      () => get(key),
      () => batchGet([key]),
      () => query(listing),
      () => write([put({ ...other })]),
      () => write([put({ ...other }), put({ ...key, changed: true })]),
    ]) {
      const rejected = expect(command()).rejects;
      await rejected.toThrow(UnavailableError);
      await rejected.toThrow(`The table has layout ${layout}, but this release needs layout ${LAYOUT}`);
    }
    expect(await table.get(other)).toBeUndefined();
    expect(await table.get(key)).toEqual(key);
    await setLayout(LAYOUT);
    expect(await get(key)).toEqual(key);
  });

  it('creates no project with a different layout', async () => {
    await setLayout(LAYOUT + 1);
    const project = newProject();
    await expect(projects(table).create(project, newKey())).rejects.toThrow(UnavailableError);
    expect(await projects(table).get(project.id)).toBeUndefined();
    expect(await table.get(LAYOUT_KEY)).toMatchObject({ layout: LAYOUT + 1 });
  });
});
