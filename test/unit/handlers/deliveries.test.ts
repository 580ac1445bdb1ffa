import { describe, expect, it } from 'vitest';
import { itemKey } from '../../../lib/aws/items.ts';
import { STALLED_AFTER_MS } from '../../../lib/deliveries/recovery-record.ts';
import { EVENT_RETENTION_MS } from '../../../lib/events/event.ts';
import { changed } from '../../support/changed.ts';
import { code, listed, pagesOf } from '../../support/documents.ts';
import { memoryService } from '../../support/memory-service.ts';
import { type Attempt, createWebhook, deliveryOf, publish, publishAll, settled } from '../../support/requests.ts';

const service = memoryService();
const live = async () => (await service.project()).client('live');
const conflict = [409, 'conflict'];
const DAY_MS = 24 * 60 * 60 * 1000;
const started = (count: number) => ({ recovery_id: expect.stringMatching(/^rec_/), count });

/** A webhook, and the requests about it. */
async function setUp(behaviour: Parameters<typeof service.endpoint>[0] = 200, overrides: object = {}) {
  const project = await service.project();
  const client = await project.client('live');
  const endpoint = service.endpoint(behaviour);
  const { id } = await createWebhook(client, endpoint.url, overrides);
  const path = `/v1/webhooks/${id}`;
  return {
    ...{ projectId: project.id, client, endpoint, id, path },
    change: (body: object) => client('PATCH', path, { body }),
    redeliver: (eventId: string) => client('POST', `${path}/deliveries/${eventId}/redeliver`),
    recover: (body: object = {}, headers: Record<string, string> = {}) =>
      client('POST', `${path}/recover`, { body, headers }),
    countOf: async (query = '') => (await client('GET', `${path}/recover${query}`)).body.count,
    recovery: async () => (await client('GET', `${path}/recover`)).body.recovery,
    stop: () => client('DELETE', `${path}/recover`),
  };
}

it('a webhook skips events while it is paused, and recovers them', async () => {
  const { client, endpoint, id, path, change, redeliver, recover, countOf } = await setUp();
  const since = new Date(service.clock.now() - 1000).toISOString();
  const paused = await change({ status: 'disabled' });
  expect(paused.body).toMatchObject({
    status: 'disabled',
    disabled_reason: 'paused',
    disabled_at: paused.body.updated_at,
  });
  const events = await Promise.all([1, 2, 3].map((revision) => publish(client, changed({ revision }))));
  await service.settle();
  for (const { body } of events) expect((await settled(client, id, body.id)).status).toBe('skipped');
  expect(code(await recover({ since }))).toEqual(conflict);
  expect(code(await redeliver(events[0]?.body.id))).toEqual(conflict);
  expect(await countOf()).toBe(3);
  expect(await countOf(`?until=${since}`)).toBe(0);
  expect((await recover({ enable: true, until: since })).body).toEqual(started(0));
  await service.settle();
  expect(endpoint.received).toHaveLength(0);
  expect(await client('POST', `${path}/recover`)).toMatchObject({ status: 202, body: { count: 3 } });
  await service.settle();
  expect(endpoint.received.map(({ body }) => body).sort()).toEqual(events.map(({ text }) => text).sort());
  const recovered = { status: 'succeeded', attempts: [{ trigger: 'recovery' }] };
  for (const { body } of events) expect(await settled(client, id, body.id)).toMatchObject(recovered);
  expect((await recover({ since })).body).toEqual(started(0));
  const enabled = { status: 'enabled', disabled_reason: null, disabled_at: null };
  expect((await client('GET', path)).body).toMatchObject(enabled);
});

it('a webhook with documents and headers receives only events of its documents, with its headers, and shows the exact request', async () => {
  const client = await live();
  const receiver = service.endpoint();
  const own = { documents: ['org:acme:*'], headers: { Authorization: 'Bearer s3cret', 'X-Tenant': 'acme' } };
  const { id } = await createWebhook(client, receiver.url, own);
  const described = (await client('GET', `/v1/webhooks/${id}`)).body;
  expect(described).toMatchObject({ documents: own.documents, headers: { Authorization: '***', 'X-Tenant': '***' } });

  const other = await publish(client, changed({ document_key: 'org:other:doc' }));
  const event = await publish(client, changed({ document_key: 'org:acme:doc' }));
  await service.settle();
  const delivery = await settled(client, id, event.body.id);
  const [{ headers = {} } = {}] = receiver.received;
  expect(headers).toMatchObject({ Authorization: 'Bearer s3cret', 'X-Tenant': 'acme' });
  expect(delivery).toMatchObject({
    document_key: 'org:acme:doc',
    url: receiver.url,
    test: false,
    next_attempt_at: null,
  });
  const response = { status_code: 200, error: null, duration_ms: 20, response_headers: { via: 'proxy' } };
  const shown = { url: receiver.url, ...response, response_excerpt: 'ok' };
  expect(delivery.attempts).toMatchObject([{ number: 1, trigger: 'schedule', ...shown }]);
  const [{ request_headers: sent, ...attempt }] = delivery.attempts;
  expect(sent).toMatchObject({ Authorization: '***', 'X-Tenant': '***' });
  for (const [name, value] of Object.entries(sent))
    if (value !== '***') expect([name, headers[name]]).toEqual([name, value]);
  expect(sent['X-Service-Signature']).toMatch(/^sha256=/);
  const { body } = await client('GET', `/v1/webhooks/${id}/deliveries`);
  const omitted = { url: null, request_headers: null, response_headers: null, response_excerpt: null };
  expect(body.data).toEqual([{ ...delivery, attempts: [{ ...attempt, ...omitted }] }]);
  expect((await client('GET', `/v1/webhooks/${id}/deliveries/${other.body.id}`)).status).toBe(404);
  expect(service.log.join('')).not.toContain('s3cret');

  await client('PATCH', `/v1/webhooks/${id}`, { body: { documents: [], headers: {} } });
  await publish(client, changed({ document_key: 'org:other:doc' }));
  await service.settle();
  expect(receiver.received[1]?.headers).not.toHaveProperty('Authorization');
});

it('an event has a delivery to each of its webhooks, which is pending until its first attempt is recorded', async () => {
  const client = await live();
  const receiver = service.endpoint();
  const other = await createWebhook(client, receiver.url, { events: ['document.deleted'] });
  const webhooks = [await createWebhook(client, receiver.url), await createWebhook(client, receiver.url)];
  const event = await publish(client);
  const path = `/v1/events/${event.body.id}/deliveries`;
  const { body } = await client('GET', path);
  const { timestamp } = event.body;
  const pending = { status: 'pending', url: null, attempts: [], created_at: timestamp, next_attempt_at: timestamp };
  expect(body.data).toMatchObject(webhooks.map(({ id }) => ({ webhook_id: id, ...pending })));
  const delivery = `/v1/webhooks/${webhooks[0]?.id}/deliveries/${event.body.id}`;
  expect((await client('GET', delivery)).body).toEqual(body.data[0]);
  expect(code(await client('POST', `${delivery}/redeliver`))).toEqual(conflict);
  const pages = webhooks.map((_, i) => [body.data[i]]);
  expect(await pagesOf(client, `${path}?limit=1`)).toEqual([[], ...pages]); // a page is empty if its webhook has none
  await service.settle();

  for (const { id } of webhooks) expect((await settled(client, id, event.body.id)).status).toBe('succeeded');
  expect((await client('GET', path)).body.data).toMatchObject(webhooks.map(() => ({ status: 'succeeded' })));
  // An earlier event has no pending delivery to a webhook whose subscription changed since.
  await client('PATCH', `/v1/webhooks/${other.id}`, { body: { events: ['document.changed'] } });
  expect((await client('GET', `/v1/webhooks/${other.id}/deliveries/${event.body.id}`)).status).toBe(404);
});

it('the delivery log is newest first, filtered by status and time, in pages', async () => {
  const { client, id, path } = await setUp((_, count) => (count === 2 ? 400 : 200));
  const events: string[] = [];
  for (let i = 0; i < 4; i++) {
    events.unshift((await publish(client)).body.id);
    await service.clock.advance(1000);
  }
  await service.settle();
  const ids = async (query: string) => {
    const { body } = await client('GET', `${path}/deliveries?${query}`);
    return { ids: body.data.map(({ event_id }: { event_id: string }) => event_id), next: body.next_cursor };
  };
  expect((await ids('')).ids).toEqual(events);
  const first = await ids('limit=3');
  expect(first.ids).toEqual(events.slice(0, 3));
  expect((await ids(`limit=3&cursor=${first.next}`)).ids).toEqual(events.slice(3));
  expect((await ids('status=failed')).ids).toEqual([]);
  const since = (await client('GET', `/v1/events/${events[1]}`)).body.timestamp;
  expect((await ids(`since=${since}`)).ids).toEqual(events.slice(0, 2));
  expect((await ids(`until=${since}`)).ids).toEqual(events.slice(2));
  expect((await ids('type=document.changed&status=succeeded')).ids).toEqual(events);
  expect((await ids('type=document.created')).ids).toEqual([]);
  const document = 'document_key=org:acme:doc-1';
  expect((await ids(document)).ids).toEqual(events);
  for (const several of ['status=failed&status=succeeded', 'type=document.created&type=document.changed']) {
    expect((await ids(several)).ids).toEqual(events);
    expect((await ids(`${document}&${several}`)).ids).toEqual(events);
  }
  expect((await ids('status=failed&status=canceled')).ids).toEqual([]);
  const newest = await ids(`${document}&limit=3&status=succeeded`);
  expect(newest.ids).toEqual(events.slice(0, 3));
  expect((await ids(`${document}&limit=3&status=succeeded&cursor=${newest.next}`)).ids).toEqual(events.slice(3));
  expect(await ids(`${document}&limit=3&status=failed`)).toEqual({ ids: [], next: expect.any(String) });
  expect((await ids(`${document}&until=${since}&type=document.changed`)).ids).toEqual(events.slice(2));
  for (const other of [`${document}&status=failed`, `${document}&type=document.created`, 'document_key=org:acme'])
    expect((await ids(other)).ids).toEqual([]);
  const delivery = await deliveryOf(client, id, events[2] ?? '');
  expect(delivery.attempts.map(({ status_code }: Attempt) => status_code)).toEqual([400, 200]);
});

describe('a redelivery', () => {
  it('runs the whole schedule again, and the log keeps the earlier attempts as they were', async () => {
    const { client, endpoint, id, path, change, redeliver } = await setUp(500);
    const moved = service.endpoint((_, count) => (count < 2 ? 500 : 200));
    const event = await publish(client);
    await service.settle();
    const failed = { disabled_reason: 'deliveries_failed', failing_since: event.body.timestamp };
    expect((await client('GET', path)).body).toMatchObject(failed);
    await change({ status: 'enabled', url: moved.url });
    const first = await redeliver(event.body.id);
    expect([first.status, first.body]).toMatchObject([202, { status: 'pending', event_id: event.body.id }]);
    expect(first.body.next_attempt_at).toBe(new Date(service.clock.now()).toISOString());
    for (const { request_headers } of first.body.attempts) expect(request_headers).toBeNull();
    await service.settle();
    const delivery = await deliveryOf(client, id, event.body.id);
    expect(delivery).toMatchObject({ status: 'succeeded', url: moved.url });
    expect(delivery.attempts.map(({ number }: Attempt) => number)).toEqual([1, 2, 3, 4, 5, 6, 1, 2]);
    expect(delivery.attempts.at(-1)).toMatchObject({ trigger: 'redelivery' });
    const received = [endpoint, moved].flatMap(({ url, received }) => received.map((post) => ({ ...post, url })));
    expect(received.map(({ body }) => body)).toEqual(Array(8).fill(event.text));
    for (const [i, { url, headers }] of received.entries())
      expect(delivery.attempts[i]).toMatchObject({
        url,
        request_headers: {
          'X-Service-Attempt': headers['X-Service-Attempt'],
          'webhook-timestamp': headers['webhook-timestamp'],
        },
      });
  });

  it('starts a run for a delivery without an attempt a day after its event, and not earlier', async () => {
    const { client, id, change, redeliver } = await setUp();
    const event = await publish(client);
    service.clock.skip(DAY_MS - 1); // and a request takes a millisecond
    expect(code(await redeliver(event.body.id))).toEqual(conflict);
    service.clock.skip(10);
    await change({ status: 'disabled' });
    expect(code(await redeliver(event.body.id))).toEqual(conflict);
    await change({ status: 'enabled' });
    const { status, body } = await redeliver(event.body.id);
    expect([status, body]).toMatchObject([202, { status: 'pending', attempts: [], event_id: event.body.id }]);
    await service.settle();
    const { attempts, created_at } = await settled(client, id, event.body.id);
    expect(created_at).toBe(attempts[0].at);
    expect(attempts.at(-1)).toMatchObject({ number: 1, trigger: 'redelivery', status_code: 200 });
  });

  it('returns 404 for an event that has expired or was never delivered, and sends nothing', async () => {
    const { projectId, client, endpoint, redeliver } = await setUp(200, { events: ['document.changed'] });
    const expired = await publish(client);
    const data = { document_key: 'a', revision: 1, origin: 'n' };
    const other = await publish(client, { type: 'document.deleted', data });
    await service.settle();
    await service.table.removeAll([itemKey.event({ projectId, environment: 'live' }, expired.body.id)]);
    for (const { body } of [expired, other]) expect(code(await redeliver(body.id))).toEqual([404, 'not_found']);
    await service.settle();
    expect(endpoint.received).toHaveLength(1);
  });
});

describe('a recovery', () => {
  const pagesOfRecovery = (id: string) =>
    service.messages.filter((each) => 'recover' in each && each.recover.webhookId === id).length;

  /** A paused webhook that skipped `count` events. */
  async function withSkipped(count: number, overrides: object = {}) {
    const own = await setUp(200, overrides);
    await own.change({ status: 'disabled' });
    for (let left = count; left > 0; left -= 100)
      await publishAll(own.client, Array(Math.min(100, left)).fill(changed()));
    await service.clock.advance(1000);
    return own;
  }

  it('rejects a window that is reversed, and finds nothing in an empty one', async () => {
    const { client, path, recover, countOf } = await setUp();
    const violations = [{ field: 'until', detail: 'must not be before since' }];
    const [since, until] = ['2026-02-01T00:00:00Z', '2026-01-01T00:00:00Z'];
    expect((await recover({ since, until })).body.errors).toEqual(violations);
    expect((await client('GET', `${path}/recover?since=${since}&until=${until}`)).body.errors).toEqual(violations);
    expect(await countOf(`?since=${since}&until=${since}`)).toBe(0);
    for (const window of [{ since, until: since }, { since: '2100-01-01T00:00:00Z' }]) {
      expect((await recover(window)).body).toEqual(started(0));
      await service.settle();
    }
  });

  it('of a webhook that is deleted before it is enabled does not exist', async () => {
    const { client, path, change, recover } = await setUp();
    await change({ status: 'disabled' });
    service.faults.around = async ({ name }, act) => {
      if (name === 'TransactWrite') {
        delete service.faults.around;
        await client('DELETE', path);
      }
      return act();
    };
    expect(code(await recover({ enable: true }))).toEqual([404, 'not_found']);
  });

  it('has an id, progress and an end, and counts how its deliveries end, also later', async () => {
    const { client, endpoint, recover, recovery } = await withSkipped(3);
    expect(await recovery()).toBeNull();
    endpoint.behave((_, count) => (count === 1 ? 200 : 500));
    const { body } = await recover({ enable: true, per_second: 2 });
    const started_at = new Date(service.clock.now()).toISOString();
    const own = { recovery_id: body.recovery_id, started_at, until: started_at };
    expect(await recovery()).toMatchObject({ ...own, ended_at: null, sent: 0, delivered: 0, failed: 0 });
    await service.clock.advance(10_900);
    expect(await recovery()).toMatchObject({ ended_at: null, sent: 2, delivered: 1, failed: 1 });
    await service.clock.advance(10_000);
    const ended = await recovery();
    expect(ended).toMatchObject({ ended_at: expect.any(String), sent: 3, delivered: 1, failed: 2 });
    await publish(client); // counts for no recovery
    endpoint.behave(200);
    await service.settle();
    expect(await recovery()).toEqual({ ...ended, delivered: 3, failed: 0 });
  });

  it('contains only deliveries of events of its types', async () => {
    const { client, endpoint, recover, countOf } = await withSkipped(2);
    const deleted = { type: 'document.deleted', data: { document_key: 'a', revision: 1, origin: 'n' } };
    await publish(client, deleted);
    await service.settle();
    const counts = ['document.deleted', 'document.changed', 'document.changed,document.deleted', 'sync.completed'];
    expect(await Promise.all(counts.map((types) => countOf(`?types=${types}`)))).toEqual([1, 2, 3, 0]);
    expect((await recover({ enable: true, types: ['document.deleted'] })).body).toEqual(started(1));
    await service.settle();
    expect(endpoint.received.map(({ headers }) => headers['X-Service-Event-Type'])).toEqual(['document.deleted']);
    expect(await countOf()).toBe(2);
  });

  it('is the only one of its webhook until it ends', async () => {
    const { endpoint, id, recover, recovery, countOf } = await withSkipped(40, { max_per_second: 1 });
    const first = await recover({ enable: true }, { 'Idempotency-Key': 'first' });
    expect(first.body).toEqual(started(40));
    const repeated = await recover({ enable: true }, { 'Idempotency-Key': 'first' });
    expect([repeated.body, repeated.headers['idempotency-replayed']]).toEqual([first.body, 'true']);
    await service.clock.advance(20_000);
    for (let i = 0; i < 20; i++) expect(code(await recover({ per_second: 1 }))).toEqual(conflict);
    const [pages, received] = [pagesOfRecovery(id), endpoint.received.length];
    await service.clock.advance(10_000);
    expect([pagesOfRecovery(id) - pages, endpoint.received.length - received]).toEqual([10, 10]);
    await service.settle();
    expect(endpoint.received).toHaveLength(40);
    expect(await recovery()).toMatchObject({ recovery_id: first.body.recovery_id, sent: 40, delivered: 40, failed: 0 });
    expect(await countOf()).toBe(0);
    expect((await recover()).body).toEqual(started(0));
    await service.settle();
  });

  it('is stopped by a request, starts no further delivery, and does not block another one', async () => {
    const { endpoint, id, recover, recovery, stop, countOf } = await withSkipped(6);
    expect((await stop()).status).toBe(204);
    const first = (await recover({ enable: true, per_second: 2 })).body;
    await service.clock.advance(10_500);
    expect((await stop()).status).toBe(204);
    const ended_at = new Date(service.clock.now()).toISOString();
    const pages = pagesOfRecovery(id);
    await service.clock.advance(DAY_MS);
    expect((await stop()).status).toBe(204);
    expect(await recovery()).toMatchObject({ recovery_id: first.recovery_id, ended_at, sent: 2, delivered: 2 });
    expect([endpoint.received.length, pagesOfRecovery(id), await countOf()]).toEqual([2, pages + 1, 4]);
    const second = (await recover({ per_second: 1 })).body;
    expect(second).toEqual(started(4));
    expect(second.recovery_id).not.toBe(first.recovery_id);
    await service.settle();
    expect([endpoint.received.length, (await recovery()).recovery_id]).toEqual([6, second.recovery_id]);
  });

  it.each<[string, (own: Awaited<ReturnType<typeof withSkipped>>) => Promise<unknown>]>([
    ['the webhook is paused', ({ change }) => change({ status: 'disabled' })],
    [
      'the webhook is paused and enabled again',
      async ({ change }) => {
        await change({ status: 'disabled' });
        await change({ status: 'enabled' });
      },
    ],
    ['the project is suspended', ({ projectId }) => service.administer({ operation: 'suspend', id: projectId })],
  ])('ends when %s, without another attempt, and can be repeated', async (_, end) => {
    const own = await withSkipped(5);
    const { projectId, id, endpoint, recover, recovery } = own;
    await recover({ enable: true, per_second: 1 });
    await service.clock.advance(10_500);
    expect(endpoint.received).toHaveLength(1);
    await end(own);
    const messages = service.messages.length;
    await service.settle();
    expect(service.messages.length - messages).toBe(1);
    await service.administer({ operation: 'resume', id: projectId });
    expect(await recovery()).toMatchObject({ ended_at: expect.any(String), sent: 1, delivered: 1, failed: 0 });
    expect(endpoint.received).toHaveLength(1);
    expect((await recover({ enable: true })).body).toEqual(started(4));
    await service.settle();
    expect([endpoint.received.length, pagesOfRecovery(id) < 10]).toEqual([5, true]);
  });

  it('is over as soon as its webhook is paused, so that another one can enable the webhook', async () => {
    const { endpoint, change, recover, recovery } = await withSkipped(5);
    const first = (await recover({ enable: true, per_second: 1 })).body;
    await service.clock.advance(10_500);
    const paused = (await change({ status: 'disabled' })).body;
    expect(await recovery()).toMatchObject({ recovery_id: first.recovery_id, ended_at: paused.disabled_at });
    expect((await recover({ enable: true })).body).toEqual(started(4));
    await service.settle();
    expect(endpoint.received).toHaveLength(5);
  });

  it('ends when a delivery disables the webhook', async () => {
    const { endpoint, change, recover, recovery } = await withSkipped(3);
    endpoint.behave(500);
    await recover({ enable: true });
    await service.settle();
    expect(await recovery()).toMatchObject({ ended_at: expect.any(String), sent: 3, delivered: 0, failed: 3 });
    await change({ max_per_second: 1 });
    expect((await recover({ enable: true })).status).toBe(202);
    await service.settle();
  });

  it('counts a redelivery of a delivery that it sent as the result of that delivery', async () => {
    const { client, endpoint, id, redeliver, recover, recovery } = await withSkipped(1);
    endpoint.behave(500);
    await recover({ enable: true });
    await service.clock.advance(30_000);
    const [delivery] = await listed(client, `/v1/webhooks/${id}/deliveries?status=retrying`);
    endpoint.behave(200);
    await redeliver(delivery.event_id);
    await service.settle();
    expect(await recovery()).toMatchObject({ sent: 1, delivered: 1, failed: 0 });
    await redeliver(delivery.event_id);
    await service.settle();
    expect(await recovery()).toMatchObject({ sent: 1, delivered: 1, failed: 0 });
  });

  it('whose message is lost blocks no other one, which also covers the rest', async () => {
    const { endpoint, change, recover, recovery, countOf } = await withSkipped(5);
    await recover({ enable: true, per_second: 2 });
    await service.clock.advance(10_900);
    endpoint.behave(500);
    service.faults.aroundAll = async ({ name, input }, act) =>
      name === 'SendMessageBatch' && input.Entries[0].MessageBody.includes('"recover"') ? {} : act();
    await service.clock.advance(STALLED_AFTER_MS);
    delete service.faults.aroundAll;
    expect([code(await recover()), (await recovery()).ended_at]).toEqual([conflict, null]);
    await service.clock.advance(60_000);
    await change({ description: 'Changed' });
    const left = await countOf();
    expect((await recover()).body).toEqual(started(1));
    expect(left).toBeGreaterThan(0);
    endpoint.behave(200);
    await service.settle();
    expect(await countOf()).toBe(0);
  });

  it('has a default pace, and starts no faster than the rate limit of the webhook', async () => {
    const paces: number[] = [];
    for (const [max_per_second, per_second] of [[null], [60], [5], [5, 3], [5, 100]]) {
      const { recover, recovery } = await withSkipped(101, { max_per_second });
      expect((await recover({ enable: true, per_second })).status).toBe(202);
      await service.clock.advance(10_100);
      paces.push((await recovery()).sent);
      await service.settle();
    }
    expect(paces).toEqual([50, 50, 5, 3, 5]);
  });

  it('stops when the webhook is paused, and the next one sends the rest by default', async () => {
    const { client, endpoint, path, change, recover, countOf } = await setUp();
    await change({ status: 'disabled' });
    await publishAll(
      client,
      [1, 2, 3, 4].map((revision) => changed({ revision })),
    );
    await service.clock.advance(5 * 60_000);
    await recover({ enable: true, per_second: 1 });
    await service.clock.advance(11_500);
    expect(endpoint.received).toHaveLength(2); // their success ended the outage
    await change({ status: 'disabled' });
    await service.settle();
    expect(await listed(client, `${path}/deliveries?status=canceled`)).toEqual([]);
    await change({ status: 'enabled' });
    expect(await countOf()).toBe(2);
    await recover();
    await service.settle();
    expect(new Set(endpoint.received.map(({ body }) => body)).size).toBe(4);
  });

  it('contains a retry that is more than a day late', async () => {
    const { client, countOf } = await setUp(500);
    await publish(client);
    await service.clock.advance(1000);
    service.clock.skip(DAY_MS + 61_000);
    expect(await countOf()).toBe(1);
  });

  it('contains by default what failed since the outage began', async () => {
    const { client, endpoint, id, path, change, recover, countOf } = await setUp(400);
    const failed = await publish(client);
    await service.settle();
    await change({ status: 'enabled' });
    endpoint.behave(200);
    await service.clock.advance(3_600_000);
    await publish(client);
    await service.settle();
    expect((await client('GET', path)).body.failing_since).toBeNull();
    endpoint.behave(400);
    await service.clock.advance(3_600_000);
    const again = await publish(client);
    await service.settle();
    expect(await countOf()).toBe(1);
    const since = failed.body.timestamp;
    expect(await countOf(`?since=${since}`)).toBe(2);
    const until = new Date(Date.parse(since) + 1000).toISOString();
    expect(await countOf(`?since=${since}&until=${until}`)).toBe(1);
    endpoint.behave(200);
    expect(await recover({ enable: true })).toMatchObject({ status: 202, body: { count: 1 } });
    await service.settle();
    expect((await deliveryOf(client, id, again.body.id)).status).toBe('succeeded');
    expect((await deliveryOf(client, id, failed.body.id)).status).toBe('failed');
  });

  it('redelivers several pages, and leaves out expired events', async () => {
    const { client, endpoint, id, change, recover, countOf } = await setUp();
    await change({ status: 'disabled' });
    await publish(client);
    await service.clock.advance(EVENT_RETENTION_MS);
    for (let batch = 0; batch < 3; batch++) await publishAll(client, Array(100).fill(changed()));
    await service.settle();
    expect(await countOf()).toBe(300);
    expect(await countOf('?since=1970-01-01T00:00:00Z')).toBe(300);
    await change({ status: 'enabled' });
    expect((await recover({ per_second: 150 })).body).toEqual(started(300));
    await service.settle();
    expect([endpoint.received.length, pagesOfRecovery(id)]).toEqual([300, 3]); // the last one is empty
    expect(await countOf()).toBe(0);
  });
});
