import { describe, expect, it } from 'vitest';
import { operations } from '../../../lib/api/operations.ts';
import { update } from '../../../lib/aws/expressions.ts';
import { itemKey } from '../../../lib/aws/items.ts';
import type { Answer } from '../../support/service.ts';
import {
  type Changing,
  changing,
  newScene,
  type Protected,
  perform,
  protectedOperations,
  type Scene,
  withoutEffect,
} from './scene.ts';

/** Whether the request of an operation in the scene publishes an event at the request of its client, from the specification. */
const isPublishing = (id: Protected | Changing): boolean => {
  const { method, path } = operations[id];
  if (path.startsWith('/v1/documents')) return method !== 'GET';
  return method === 'POST' && (/^\/v1\/(events|sync)/.test(path) || path.endsWith('/test'));
};

/** Uses the budget of the project, and more for some seconds. */
async function exceed({ service, projectId }: Scene, seconds: number): Promise<void> {
  const deliveriesUsedUntil = service.clock.now() + 60_000 + seconds * 1000;
  await service.table.write([update(itemKey.project(projectId), { deliveriesUsedUntil })]);
}

/** The events in the table that a client published. The service publishes the others itself. */
const publishedIn = ({ service }: Scene): number =>
  [...service.db.items()].filter(
    ({ pk, type }) => String(pk).startsWith('EVENT#') && type !== 'sync.completed' && type !== 'connection.lost',
  ).length;

describe('a project over its budget of deliveries', () => {
  it.each(
    protectedOperations.filter(isPublishing),
  )('changes nothing with a request that publishes, which is accepted after Retry-After: %s', async (id) => {
    const scene = await newScene(id);
    await exceed(scene, 30);
    const { status, body, headers } = await withoutEffect(scene, () => perform(scene, id));
    expect([status, body.code, headers['retry-after']]).toEqual([429, 'too_many_requests', '30']);
    scene.service.clock.skip(30_000);
    expect((await perform(scene, id)).status).toBeLessThan(300);
    expect(scene.service.failures).toEqual([]);
  });

  it.each(
    protectedOperations.filter((id) => !isPublishing(id) && id !== 'renewEngine'),
  )('can still use every other operation: %s', async (id) => {
    const scene = await newScene(id);
    const usual = await perform(await newScene(id), id);
    await exceed(scene, 30);
    expect((await perform(scene, id)).status).toBe(usual.status);
  });
});

describe('a connection of a project over its budget', () => {
  const SECONDS = 30;
  const limited = [429, 'too_many_requests', String(SECONDS)];
  const outcome = ({ status, body, headers }: Answer) => [status, body.code, headers['retry-after']];

  it('is renewed, and not opened', async () => {
    const scene = await newScene('renewConnection');
    await exceed(scene, SECONDS);
    const put = (id: string) => scene.admin('PUT', `/v1/connections/${id}`, { body: { node_id: 'n' } });
    expect((await put('phone')).status).toBe(200);
    expect(outcome(await withoutEffect(scene, () => put('tablet')))).toEqual(limited);
  });

  it('that has lapsed is reported, although it is not opened again', async () => {
    const scene = await newScene();
    const { admin, service } = scene;
    const put = () => admin('PUT', '/v1/connections/tablet', { body: { node_id: 'n', lease_seconds: 10 } });
    await put();
    service.clock.skip(10_000); // the check has not run yet
    await exceed(scene, SECONDS);
    expect(outcome(await withoutEffect(scene, put))).toEqual(limited);
    await service.clock.advance(1000);
    const { body } = await admin('GET', '/v1/events?type=connection.lost');
    expect(body.data.map((event: { data: object }) => event.data)).toMatchObject([{ connection_id: 'tablet' }]);
  });

  it('of an engine is opened later, and the lease of the engine is renewed', async () => {
    const scene = await newScene('renewEngine');
    const { admin, service } = scene;
    await exceed(scene, SECONDS);
    await service.clock.advance(1000);
    const put = (body: object) => admin('PUT', '/v1/engines/engine', { body: { lease_seconds: 900, ...body } });
    const opened = { opened: [{ id: 'other', node_id: 'n' }] };
    const expiry = async () => (await put({})).body.expires_at;
    const before = await expiry();
    await service.clock.advance(1000);
    expect(outcome(await put(opened))).toEqual([429, 'too_many_requests', expect.any(String)]);
    expect(JSON.stringify([...service.db.items()])).not.toContain('"other"');
    expect((await expiry()) > before).toBe(true);
    service.clock.skip(SECONDS * 1000);
    expect((await put(opened)).status).toBe(200);
  });

  it('of an engine is closed without an event, also next to changes that wait', async () => {
    const scene = await newScene();
    const { admin, service } = scene;
    const put = (body: object) => admin('PUT', '/v1/engines/own', { body: { lease_seconds: 900, ...body } });
    const socket = (id: string) => ({ id, node_id: 'n' });
    const ids = ['a', 'b', 'c', 'd'];
    await put({ opened: ids.map(socket) });
    await exceed(scene, SECONDS);
    const stored = () =>
      [...service.db.items()].flatMap(({ sk }) => /^own#.*#(\w+)$/.exec(String(sk))?.[1] ?? []).sort();
    const mixed = { opened: [socket('e')], closed: [{ id: 'a', lost: true }, { id: 'b' }] };
    expect((await put({ closed: [{ id: 'd' }] })).status).toBe(200);
    expect(stored()).toEqual(['a', 'b', 'c']);
    expect(outcome(await put(mixed))).toEqual(limited);
    expect(outcome(await put({ closed: mixed.closed.slice(0, 1) }))).toEqual(limited);
    expect(stored()).toEqual(['a', 'c']);
    service.clock.skip(SECONDS * 1000);
    expect((await put(mixed)).status).toBe(200);
    expect(stored()).toEqual(['c', 'e']);
    const { body } = await admin('GET', '/v1/events?type=connection.lost');
    expect(body.data.map((event: { data: object }) => event.data)).toMatchObject([{ connection_id: 'a' }]);
  });
});

it.each(changing)('only requests that the budget limits publish an event: %s', async (id) => {
  const scene = await newScene(id);
  const before = publishedIn(scene);
  await perform(scene, id);
  expect(publishedIn(scene) > before).toBe(isPublishing(id));
});
