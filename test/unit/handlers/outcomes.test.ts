import { describe, expect, it } from 'vitest';
import { changed } from '../../support/changed.ts';
import { pagesOf } from '../../support/documents.ts';
import { memoryService } from '../../support/memory-service.ts';
import { createWebhook, publish } from '../../support/requests.ts';
import type { Client } from '../../support/service.ts';

const service = memoryService();
const DAY_MS = 24 * 60 * 60 * 1000;

async function setUp() {
  const project = await service.project();
  const client = await project.client('live');
  const webhook = async (behaviour: Parameters<typeof service.endpoint>[0], overrides: object = {}): Promise<string> =>
    (await createWebhook(client, service.endpoint(behaviour).url, overrides)).id;
  return { project, client, webhook };
}

async function outcomesOf(client: Client): Promise<unknown[]> {
  const { status, body, text } = await client('GET', '/v1/events?include=outcome');
  expect(status, text).toBe(200);
  return body.data.map(({ outcome }: { outcome: unknown }) => outcome);
}

describe('the outcome of an event', () => {
  it('is part of a list only on request, and never of the event itself', async () => {
    const { client, webhook } = await setUp();
    await webhook(200);
    const { body } = await publish(client, changed());
    await service.settle();
    expect((await client('GET', '/v1/events')).body.data).toEqual([body]);
    expect((await client('GET', `/v1/events/${body.id}`)).body).toEqual(body);
    const outcome = { delivered: 1, pending: 0, undelivered: 0 };
    expect((await client('GET', '/v1/events?include=outcome')).body.data).toEqual([{ ...body, outcome }]);
  });

  it('counts what each webhook received: at first, during retries, after an outage, and after a recovery', async () => {
    const { client, webhook } = await setUp();
    let isUp = false;
    await webhook(200);
    const failing = await webhook(() => (isUp ? 200 : 500));
    await webhook(200, { events: ['document.deleted'] });
    await publish(client, changed());
    expect(await outcomesOf(client)).toEqual([{ delivered: 0, pending: 2, undelivered: 0 }]);
    await service.clock.advance(10_000);
    expect(await outcomesOf(client)).toEqual([{ delivered: 1, pending: 1, undelivered: 0 }]);
    await service.settle();
    expect((await client('GET', `/v1/webhooks/${failing}`)).body.disabled_reason).toBe('deliveries_failed');
    await publish(client, changed({ revision: 2 })); // skipped
    await service.settle();
    const missed = { delivered: 1, pending: 0, undelivered: 1 };
    expect(await outcomesOf(client)).toEqual([missed, missed]);
    isUp = true;
    await client('POST', `/v1/webhooks/${failing}/recover`, { body: { enable: true } });
    await service.settle();
    const received = { delivered: 2, pending: 0, undelivered: 0 };
    expect(await outcomesOf(client)).toEqual([received, received]);
  });

  it('leaves out what a webhook missed because a person had paused it, during and after the pause', async () => {
    const { client, webhook } = await setUp();
    await webhook(200);
    const paused = await webhook(200);
    await client('PATCH', `/v1/webhooks/${paused}`, { body: { status: 'disabled' } });
    await publish(client, changed());
    const only = { delivered: 1, pending: 0, undelivered: 0 };
    await service.clock.advance(10_000);
    expect(await outcomesOf(client)).toEqual([only]);
    await client('PATCH', `/v1/webhooks/${paused}`, { body: { status: 'enabled' } });
    expect(await outcomesOf(client)).toEqual([only]);
    await publish(client, changed({ revision: 2 }));
    await service.settle();
    expect(await outcomesOf(client)).toEqual([{ ...only, delivered: 2 }, only]);
    await client('POST', `/v1/webhooks/${paused}/recover`, { body: { since: '2026-01-01T00:00:00Z' } });
    await service.settle();
    expect(await outcomesOf(client)).toEqual(Array(2).fill({ ...only, delivered: 2 }));
  });

  it('counts what a webhook missed before a person paused it, but not what waits for a retry then', async () => {
    const { client, webhook } = await setUp();
    await webhook(200);
    const failing = await webhook(500);
    await publish(client, changed());
    await service.settle(); // disabled
    await publish(client, changed({ revision: 2 })); // skipped
    await service.settle();
    await client('PATCH', `/v1/webhooks/${failing}`, { body: { status: 'enabled' } });
    await publish(client, changed({ revision: 3 }));
    await service.clock.advance(10_000);
    const missed = { delivered: 1, pending: 0, undelivered: 1 };
    expect(await outcomesOf(client)).toEqual([{ delivered: 1, pending: 1, undelivered: 0 }, missed, missed]);
    await client('PATCH', `/v1/webhooks/${failing}`, { body: { status: 'disabled' } });
    const uncounted = { delivered: 1, pending: 0, undelivered: 0 };
    expect(await outcomesOf(client)).toEqual([uncounted, missed, missed]);
    await service.settle(); // canceled
    expect(await outcomesOf(client)).toEqual([uncounted, missed, missed]);
  });

  it('leaves out webhooks of another environment or project, and those that are newer or deleted', async () => {
    const { client, project, webhook } = await setUp();
    const deleted = await webhook(200);
    await publish(client, changed());
    await service.settle();
    await client('DELETE', `/v1/webhooks/${deleted}`);
    await service.clock.advance(DAY_MS);
    await webhook(200);
    const others = [await project.client('test'), await (await service.project()).client('live')];
    for (const other of others) await createWebhook(other, service.endpoint(200).url);
    expect(await outcomesOf(client)).toEqual([{ delivered: 0, pending: 0, undelivered: 0 }]);
    for (const other of others) expect(await outcomesOf(other)).toEqual([]);
  });

  it('is part of every page, which is short with many webhooks', async () => {
    const { client, webhook } = await setUp();
    for (let i = 0; i < 100; i++) await webhook(200, { events: ['document.deleted'] });
    for (let revision = 1; revision <= 21; revision++) await publish(client, changed({ revision }));
    const pages = await pagesOf(client, '/v1/events?include=outcome&limit=100');
    expect(pages.map(({ length }) => length)).toEqual([10, 10, 1]);
    const outcome = { delivered: 0, pending: 0, undelivered: 0 };
    for (const event of pages.flat()) expect(event).toMatchObject({ outcome });
  });
});
