import { describe, expect, it } from 'vitest';
import { changed } from '../../support/changed.ts';
import { memoryService } from '../../support/memory-service.ts';
import { createWebhook, publish } from '../../support/requests.ts';

const service = memoryService();

/** A project with a webhook that fails, unless `behaviour` says otherwise. */
async function setUp({ behaviour = 500, ...settings }: { behaviour?: number; max_per_second?: number } = {}) {
  const project = await service.project();
  const client = await project.client('live');
  const endpoint = service.endpoint(behaviour);
  const { id } = await createWebhook(client, endpoint.url, settings);
  const path = `/v1/webhooks/${id}`;
  let revision = 0;
  return {
    ...{ project, client, endpoint, id, path },
    pause: () => client('PATCH', path, { body: { status: 'disabled' } }),
    publish: async (): Promise<string> => (await publish(client, changed({ revision: ++revision }))).body.id,
    /** Status and reason of a delivery, in each response that contains it. */
    async shown(eventId: string): Promise<unknown> {
      const { body } = await client('GET', `${path}/deliveries/${eventId}`);
      const lists = [`${path}/deliveries?limit=100`, `/v1/events/${eventId}/deliveries`];
      for (const list of lists) {
        const listed = (await client('GET', list)).body.data as { event_id: string }[];
        const { status, reason, last_attempt_at } = body;
        expect(listed.find(({ event_id }) => event_id === eventId)).toMatchObject({ status, reason, last_attempt_at });
      }
      return [body.status, body.reason];
    },
  };
}

describe('the reason of a delivery', () => {
  it('is that a person paused the webhook, or that failures disabled it, for new events and for retries', async () => {
    for (const reason of ['paused', 'disabled']) {
      const { publish, pause, shown, path, client } = await setUp();
      const first = await publish();
      await service.clock.advance(36 * 60_000); // its 4th attempt
      const retried = await publish();
      await service.clock.advance(10_000);
      expect([await shown(first), await shown(retried)]).toEqual(Array(2).fill(['retrying', null]));
      if (reason === 'paused') await pause();
      else await service.clock.advance(15 * 3_600_000);
      const missed = await publish();
      await service.settle();
      expect((await client('GET', path)).body.status).toBe('disabled');
      expect(await shown(first)).toEqual(reason === 'paused' ? ['canceled', reason] : ['failed', null]);
      expect(await shown(retried)).toEqual(['canceled', reason]);
      expect(await shown(missed)).toEqual(['skipped', reason]);
    }
  });

  it('does not change with a later pause, and is cleared by a new run', async () => {
    const { publish, pause, shown, client, path, endpoint } = await setUp();
    await publish();
    await service.settle(); // disabled
    const missed = await publish();
    await service.settle();
    await client('PATCH', path, { body: { status: 'enabled' } });
    await pause();
    expect(await shown(missed)).toEqual(['skipped', 'disabled']);
    endpoint.behave(200);
    await client('POST', `${path}/recover`, { body: { enable: true } });
    await service.settle();
    expect(await shown(missed)).toEqual(['succeeded', null]);
  });

  it('is that the operator suspended the project', async () => {
    const { publish, shown, project } = await setUp();
    const retried = await publish();
    await service.clock.advance(1000);
    const queued = await publish();
    await service.administer({ operation: 'suspend', id: project.id });
    await service.settle();
    await service.administer({ operation: 'resume', id: project.id });
    expect([await shown(retried), await shown(queued)]).toEqual([
      ['canceled', 'suspended'],
      ['skipped', 'suspended'],
    ]);
  });

  it('is that the rate limit of the webhook was exceeded', async () => {
    const { publish, shown, client, path } = await setUp({ behaviour: 200, max_per_second: 1 });
    await service.table.write([
      {
        Put: {
          Item: {
            ...{ pk: `SLOTS#${path.split('/').at(-1)}`, sk: 'SLOTS', maxPerSecond: 1, expires: 1e10 },
            ...{ usedUntil: service.clock.now() + 3_600_000, bookedUntil: service.clock.now() + 3_700_000 },
          },
        },
      },
    ]);
    const skipped = await publish();
    await service.settle();
    expect(await shown(skipped)).toEqual(['skipped', 'rate_limited']);
    const { body } = await client('GET', `${path}/deliveries?status=skipped`);
    expect(body.data).toMatchObject([{ attempts: [], last_attempt_at: null }]);
  });

  it('is that its webhook was deleted, in the export of the project', async () => {
    const { publish, client, path, project, endpoint } = await setUp();
    const retried = await publish();
    await service.clock.advance(1000);
    endpoint.behave(200);
    const delivered = await publish();
    await service.clock.advance(1000);
    const exported = async () => {
      const { lines } = (await service.administer({ operation: 'export', id: project.id })) as { lines: string[] };
      const deliveries = lines.map((line) => JSON.parse(line)).filter(({ type }) => type === 'delivery');
      const shown = ({ status, reason, next_attempt_at }: Record<string, unknown>) => [status, reason, next_attempt_at];
      return new Map(deliveries.map(({ data }) => [data.event_id, shown(data)]));
    };
    const succeeded = [delivered, ['succeeded', null, null]];
    expect([...(await exported())].sort()).toEqual([[retried, ['retrying', null, expect.any(String)]], succeeded]);
    await client('DELETE', path);
    await service.settle();
    expect([...(await exported())].sort()).toEqual([[retried, ['canceled', 'deleted', null]], succeeded]);
  });
});

it('a delivery has the time of its last attempt, and none before the first', async () => {
  const { publish, client, path, endpoint } = await setUp();
  const id = await publish();
  const read = async () => (await client('GET', `${path}/deliveries/${id}`)).body;
  expect(await read()).toMatchObject({ status: 'pending', reason: null, last_attempt_at: null });
  await service.clock.advance(61_000);
  const { attempts } = await read();
  expect(attempts).toHaveLength(2);
  const { data } = (await client('GET', `${path}/deliveries`)).body;
  expect(data).toMatchObject([{ last_attempt_at: attempts[1].at, created_at: attempts[0].at }]);
  expect(attempts[1].at).not.toBe(attempts[0].at);
  await service.settle();
  endpoint.behave(200);
  await client('PATCH', path, { body: { status: 'enabled' } });
  const before = await read();
  await client('POST', `${path}/deliveries/${id}/redeliver`);
  expect((await read()).last_attempt_at).toBe(before.last_attempt_at);
  await service.settle();
  const after = await read();
  expect(after.last_attempt_at).toBe(after.attempts.at(-1).at);
  expect(after.last_attempt_at).not.toBe(before.last_attempt_at);
});
