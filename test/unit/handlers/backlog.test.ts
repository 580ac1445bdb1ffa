import { describe, expect, it } from 'vitest';
import { changed } from '../../support/changed.ts';
import { memoryService } from '../../support/memory-service.ts';
import { createWebhook, publishAll } from '../../support/requests.ts';

const service = memoryService();
const DAY_MS = 24 * 60 * 60 * 1000;

/** A webhook, and what the responses about it say of its backlog: `[undelivered, undelivered_paused, retrying]`. */
async function setUp(behaviour: Parameters<typeof service.endpoint>[0] = 500) {
  const client = await (await service.project()).client('live');
  const endpoint = service.endpoint(behaviour);
  const created = (await createWebhook(client, endpoint.url)) as unknown as Record<string, number>;
  const path = `/v1/webhooks/${created.id}`;
  const backlogIn = ({ undelivered, undelivered_paused, retrying }: Record<string, number>) => [
    undelivered,
    undelivered_paused,
    retrying,
  ];
  expect(backlogIn(created)).toEqual([0, 0, 0]);
  return {
    ...{ client, endpoint, path },
    publish: (count: number) => publishAll(client, Array(count).fill(changed())),
    change: async (status: 'enabled' | 'disabled') =>
      backlogIn((await client('PATCH', path, { body: { status } })).body),
    recover: (body: object = { enable: true }) => client('POST', `${path}/recover`, { body }),
    countOf: async () => (await client('GET', `${path}/recover`)).body.count,
    async backlog() {
      const { body } = await client('GET', path);
      const { data } = (await client('GET', '/v1/webhooks')).body;
      expect(backlogIn(data.find(({ id }: { id: string }) => id === body.id))).toEqual(backlogIn(body));
      return backlogIn(body);
    },
  };
}

describe('the undelivered deliveries of a webhook', () => {
  it('are counted from the first failure to the recovery, as the recovery counts them', async () => {
    const { client, endpoint, path, publish, backlog, recover, countOf } = await setUp();
    await publish(3);
    await client('POST', `${path}/test`);
    expect(await backlog()).toEqual([0, 0, 0]);
    await service.clock.advance(10_000);
    expect(await backlog()).toEqual([0, 0, 3]);
    await service.settle(); // disabled
    await publish(4);
    await service.settle();
    expect([await backlog(), await countOf()]).toEqual([[7, 0, 0], 7]);
    await recover();
    await service.clock.advance(20_000); // the endpoint still fails
    expect([await backlog(), await countOf()]).toEqual([[0, 0, 7], 0]);
    endpoint.behave(200);
    await service.settle();
    expect([await backlog(), await countOf()]).toEqual([[0, 0, 0], 0]);
  });

  it('include those of a pause, which the response tells apart', async () => {
    const { publish, backlog, change, countOf } = await setUp(200);
    await change('disabled');
    await publish(2);
    await service.settle();
    expect(await backlog()).toEqual([2, 2, 0]);
    expect(await change('enabled')).toEqual([2, 2, 0]);
    expect(await countOf()).toBe(2);
  });

  it('expire with their events', async () => {
    const { publish, backlog, change } = await setUp(200);
    await change('disabled');
    await publish(2);
    await service.clock.advance(29 * DAY_MS);
    await publish(1);
    await service.settle();
    expect(await backlog()).toEqual([3, 3, 0]);
    await service.clock.advance(DAY_MS + 60 * 60 * 1000);
    expect(await backlog()).toEqual([1, 1, 0]);
    await service.clock.advance(30 * DAY_MS);
    expect(await backlog()).toEqual([0, 0, 0]);
  });
});

it('the emails about a webhook say how many events it has not received', async () => {
  const { path, publish } = await setUp();
  const numbers = () => {
    const own = service.emails.filter(({ text }) => text.includes(path.split('/').at(-1) as string));
    return own.map(({ subject, text }) => [subject.split(':')[0], /Not received: +(.*)/.exec(text)?.[1]]);
  };
  await publish(3);
  await service.clock.advance(30 * 60_000);
  await publish(2);
  await service.clock.advance(10 * 60_000);
  expect(numbers()).toEqual([['Webhook failing', '5 events']]);
  await service.settle();
  expect(numbers()).toEqual([
    ['Webhook failing', '5 events'],
    ['Webhook disabled', '5 events'],
  ]);
});

it('a recovery whose endpoint still fails reports that all of its deliveries failed, and a later success', async () => {
  const { client, endpoint, path, publish, recover } = await setUp(401);
  await publish(39);
  await service.settle();
  await recover();
  await service.clock.advance(30_000);
  const recovery = async () => (await client('GET', `${path}/recover`)).body.recovery;
  expect(await recovery()).toMatchObject({ ended_at: expect.any(String), sent: 39, delivered: 0, failed: 39 });
  endpoint.behave(200);
  await service.settle();
  expect(await recovery()).toMatchObject({ sent: 39, delivered: 39, failed: 0 });
});
