import { describe, expect, it } from 'vitest';
import { operations } from '../../../lib/api/operations.ts';
import { SETTLE_MS } from '../../../lib/operators/deletion.ts';
import { type Ceiling, ceilingOf, ceilings, OUTCOME_READS, REQUESTS } from './ceilings.ts';
import { type Changing, changing, type Performed, perform, performed, type Scene } from './scene.ts';
import { busyScene, countWork, largestItems, type Work } from './work.ts';

/** Fewer requests, with which a growing item is smaller. */
const FEW = 4;
/** The differences of numbers and times in items. */
const SAME_BYTES = 12;

/** The summary of changes whose emails were held back, so that the owners learn of every key. */
const SUMMARIES: Readonly<Partial<Record<Changing, number>>> = { createKey: 1, changeProject: 1 };
/** The check of a connection ends with its lease. */
const LEASE_MS = 15 * 60 * 1000;
/** The bytes of the record of a deletion, which is independent of the contents of the project. */
const MAX_DELETION = 400;

const exceeded = (work: Work, most: Work) =>
  Object.entries(work).filter(([name, amount]) => amount > most[name as keyof Work]);

/** A scene after requests that were sent at once. Their work has not started. */
async function sceneAfter(id: Performed, requests: number): Promise<Scene> {
  const scene = await busyScene(id);
  for (let n = 1; n <= requests; n++) await perform(scene, id, { n });
  return scene;
}

const administer = ({ service, projectId: id }: Scene, operation: string) => service.administer({ operation, id });

async function readsOf(scene: Scene, operation: object): Promise<number> {
  const count = countWork(scene);
  await scene.service.administer(operation);
  return count().reads;
}

it('every operation that uses the table has a ceiling', () => {
  const ids = Object.entries(operations)
    .filter(([id]) => id !== 'listEventTypes')
    .map(([id]) => id);
  expect(Object.keys(ceilings).sort()).toEqual(ids.sort());
});

describe('many requests with one key', () => {
  it.each(performed)('cause no more than a ceiling until all work has ended: %s', async (id) => {
    const scene = await busyScene(id);
    const count = countWork(scene);
    for (let n = 1; n <= REQUESTS; n++) {
      await perform(scene, id, { n });
      await scene.service.clock.advance(1000);
    }
    await scene.service.settle();
    expect(exceeded(count(), ceilingOf(id, REQUESTS))).toEqual([]);
    expect(scene.service.failures).toEqual([]);
  });

  it('cause no more than a ceiling: listEvents with outcomes', async () => {
    const scene = await busyScene('listEvents');
    const count = countWork(scene);
    for (let n = 1; n <= REQUESTS; n++)
      expect((await perform(scene, 'listEvents', { query: '?include=outcome&limit=100' })).status).toBe(200);
    const most = ceilingOf('listEvents', REQUESTS);
    expect(exceeded(count(), { ...most, reads: most.reads + REQUESTS * OUTCOME_READS })).toEqual([]);
  });

  it.each(changing)('let no item grow without a limit, nor the reads of an operator: %s', async (id) => {
    const [few, many] = [await sceneAfter(id, FEW), await sceneAfter(id, REQUESTS)];
    const { growing = {} }: Ceiling = ceilings[id];
    const before = largestItems(few);
    const grown = Object.entries(largestItems(many)).filter(
      ([kind, bytes]) => bytes > (growing[kind] ?? (before[kind] ?? bytes) + SAME_BYTES),
    );
    expect(grown).toEqual([]);
    const webhooks = id === 'createWebhook' ? 2 * (REQUESTS - FEW) : 0; // a list shows their number, of at most 100
    for (const operation of [{ operation: 'list' }, { operation: 'suspend', id: many.projectId }])
      expect(await readsOf(many, operation), operation.operation).toBeLessThanOrEqual(
        (await readsOf(few, operation)) + webhooks,
      );
  });
});

describe('after a suspension', () => {
  it.each(
    changing,
  )('the work of earlier requests reaches no endpoint and ends soon, and the project can be deleted: %s', async (id) => {
    const scene = await sceneAfter(id, REQUESTS);
    const { clock, settle } = scene.service;
    await administer(scene, 'suspend');
    const count = countWork(scene);
    const suspendedAt = clock.now();
    await settle();
    const { posts, emails } = count();
    expect(posts).toBe(0);
    expect(emails).toBeLessThanOrEqual(SUMMARIES[id] ?? 0);
    expect(clock.now() - suspendedAt).toBeLessThanOrEqual(LEASE_MS);
    expect(await bytesOfDeletion(scene)).toBeLessThan(MAX_DELETION);
    expect(scene.service.failures).toEqual([]);
  });
});

/** Deletes the project, and returns the bytes of the largest record of the deletion. */
async function bytesOfDeletion(scene: Scene): Promise<number> {
  const { service, projectId: id } = scene;
  const { name } = (await administer(scene, 'show')) as { name: string };
  let bytes = 0;
  for (let call = 0; call < 10; call++) {
    const { state } = (await service.administer({ operation: 'delete', id, name })) as { state: string };
    bytes = Math.max(bytes, largestItems(scene).DELETION ?? 0);
    if (state === 'deleted') return bytes;
    await service.clock.advance(SETTLE_MS);
  }
  throw new Error('The deletion does not end');
}
