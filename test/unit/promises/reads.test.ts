import { expect, it } from 'vitest';
import { isRead } from '../../support/runtime.ts';
import { changing, newScene, perform, reading, type Scene } from './scene.ts';

/** The reads of the table that can miss the latest writes. A new one needs a reason why that is harmless. */
const EVENTUAL = [
  'BatchGet EVENT', // a page of a list, whose events never change, and which reads missing ones again
  'BatchGet HOOK', // the outcomes of such a page
  'Query FIGURES', // stats, which are late anyway
  'Query HOOK', // a page of a list
];

interface Read {
  RequestItems?: Record<string, Read>;
  ConsistentRead?: boolean;
  IndexName?: string;
  Key?: { pk: string };
  Keys?: { pk: string }[];
  ExpressionAttributeValues?: Record<string, unknown>;
}

/** Collects the reads of the table, without its indexes, that are eventually consistent. */
function observe({ service }: Scene, found: Set<string>): void {
  service.faults.command = (name, input) => {
    const { RequestItems, ...own } = input as Read;
    const read: Read = RequestItems ? (Object.values(RequestItems)[0] ?? {}) : own;
    if (!isRead(name) || read.IndexName || read.ConsistentRead) return undefined;
    const pk = read.Key?.pk ?? read.Keys?.[0]?.pk ?? Object.values(read.ExpressionAttributeValues ?? {})[0];
    found.add(`${name} ${String(pk).split('#')[0]}`);
    return undefined;
  };
}

it('reads the latest state, except for lists', async () => {
  const found = new Set<string>();
  for (const id of changing) {
    const scene = await newScene(id);
    observe(scene, found);
    await perform(scene, id);
    await scene.service.settle();
  }
  const scene = await newScene();
  observe(scene, found);
  for (const id of reading) expect((await perform(scene, id)).status, id).toBe(200);
  await perform(scene, 'listEvents', { query: '?include=outcome' });
  const { service, projectId: id } = scene;
  await service.administer({ operation: 'list' });
  for (const operation of ['show', 'export', 'delete'])
    await service.administer({ operation, id, ...(operation === 'delete' && { name: 'Test' }) });
  expect([...found].sort()).toEqual(EVENTUAL);
});
