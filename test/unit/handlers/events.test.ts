import { beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { itemKey } from '../../../lib/aws/items.ts';
import { changed } from '../../support/changed.ts';
import { code, listed, pagesOf, put } from '../../support/documents.ts';
import { memoryService } from '../../support/memory-service.ts';
import { createWebhook, publishAll } from '../../support/requests.ts';
import { isRead, VARIABLES } from '../../support/runtime.ts';
import type { Client } from '../../support/service.ts';

const service = memoryService();
let live: Client;

const deleted = (document_key: string, revision: number) => ({
  type: 'document.deleted',
  data: { document_key, revision, origin: 'n' },
});

/** Returns every event of a list, page by page. */
const all = async (client: Client, query: string) => (await pagesOf(client, `/v1/events?${query}`)).flat();

describe('events', () => {
  let ids: string[];
  let document: { created_at: string; updated_at: string };

  beforeAll(async () => {
    live = await (await service.project()).client('live');
    await put(live, 'org:acme:a', { title: 'Draft' });
    ({ body: document } = await put(live, 'org:acme:a', { title: 'Final' }));
    ids = await publishAll(
      live,
      Array.from({ length: 30 }, (_, i) => deleted(`org:acme:${i % 3}`, i + 1)),
    );
    const { id } = await createWebhook(live, 'http://127.0.0.1:9/');
    await live('POST', `/v1/webhooks/${id}/test`, { body: { type: 'document.deleted' } });
  });

  it('are listed newest first, including events of writes, but without test events', async () => {
    const found = await all(live, 'limit=7');
    expect(found).toHaveLength(32);
    const times = found.map(({ timestamp }) => timestamp);
    expect(times).toEqual(times.toSorted().toReversed());
    expect(new Set(found.map(({ id }) => id))).toEqual(new Set([...ids, ...found.slice(-2).map(({ id }) => id)]));
  });

  it('list the changes of a document', async () => {
    const found = await all(live, 'document_key=org:acme:a');
    expect(found.map(({ type, data, timestamp }) => [type, data.revision, timestamp])).toEqual([
      ['document.changed', 2, document.updated_at],
      ['document.created', 1, document.created_at],
    ]);
    expect(await all(live, 'document_key=org:acme:1&type=document.deleted')).toHaveLength(10);
    expect(await all(live, 'document_key=org:acme:1&type=sync.conflict')).toEqual([]);
  });

  it('are found by a prefix of their document keys, which ends at a segment', async () => {
    const other = await (await service.project()).client('live');
    for (const key of ['org:acme:a', 'org:acme-2:a']) await put(other, key, { title: 'Draft' });
    const published = ['org:acme:0', 'org:acme:1', 'org:acme-2:a', 'org:acme:0'].map((key, i) => deleted(key, i + 1));
    await other('POST', '/v1/events/batch', { body: { events: published } });
    const keysOf = async (query: string) => (await all(other, query)).map(({ data }) => data.document_key);
    const ofAcme = ['org:acme:0', 'org:acme:1', 'org:acme:0', 'org:acme:a'];
    for (const limit of [1, 50]) expect(await keysOf(`prefix=org:acme&limit=${limit}`)).toEqual(ofAcme);
    expect(await keysOf('prefix=org:acme-2')).toEqual(['org:acme-2:a', 'org:acme-2:a']);
    expect(await keysOf('prefix=org:acme:1')).toEqual(['org:acme:1']);
    expect(await keysOf('prefix=org:acme&type=document.created')).toEqual(['org:acme:a']);
    expect(await keysOf('prefix=org:ac')).toEqual([]);
    expect(await keysOf('prefix=org:acme&document_key=org:acme-2:a')).toEqual([]);
    const rejected = await other('GET', '/v1/events?prefix=org:');
    expect([rejected.status, rejected.body.errors[0].field]).toEqual([400, 'prefix']);
  });

  it('are found by type and time', async () => {
    const [newest] = await all(live, 'type=document.deleted&limit=100');
    const between = `since=${newest?.timestamp}&until=9999-12-31T00:00:00Z`;
    expect((await all(live, between)).map(({ id }) => id).sort()).toEqual([...ids].sort());
    expect(await all(live, `until=${newest?.timestamp}&type=document.deleted`)).toEqual([]);
    const [one, other] = [await all(live, 'type=document.deleted'), await all(live, 'type=document.created')];
    const both = await all(live, 'type=document.created&type=document.deleted');
    expect(both.map(({ id }) => id)).toEqual(
      [...one, ...other]
        .map(({ id }) => id)
        .sort()
        .reverse(),
    );
  });

  it('are listed by every key that a document can have, and only by these', async () => {
    const client = await (await service.project()).client('live');
    for (const key of ['d', 'org:acme:d', Array(8).fill('~2F.b@c_d-1'.padEnd(63, 'x')).join(':')]) {
      const { body } = await client('POST', '/v1/events', { body: deleted(key, 1) });
      const found = await all(client, `document_key=${encodeURIComponent(key)}`);
      expect(found.map(({ id }) => id)).toEqual([body.id]);
    }
    for (const key of ['w:a b', 'w:é', 'w::x', 'w:', 'w:*', 'x'.repeat(65), 'x'.repeat(513), '.']) {
      const published = await client('POST', '/v1/events/batch', {
        body: { events: [deleted('d', 2), deleted(key, 1)] },
      });
      const found = await client('GET', `/v1/events?document_key=${encodeURIComponent(key)}`);
      for (const [{ status, body }, field] of [
        [published, 'events[1].data.document_key'],
        [found, 'document_key'],
      ] as const)
        expect([status, body.errors.map((each: { field: string }) => each.field)], key).toEqual([400, [field]]);
    }
    expect(await all(client, '')).toHaveLength(3);
  });

  it('of a type without a document can have any value as its document_key, which then names no document', async () => {
    const client = await (await service.project()).client('live');
    const endpoint = service.endpoint();
    await createWebhook(client, endpoint.url, { documents: ['w:*', '*'] });
    const completed = (document_key: unknown) => ({
      type: 'sync.completed',
      data: {
        ...{ sync_id: 's', node_id: 'n', pattern: 'w:*', document_key },
        ...{ started_at: '2026-01-31T12:00:00Z', completed_at: '2026-01-31T12:00:00Z' },
      },
    });
    const names = ['w:a b', 'w:é', 'w::x', 'w:', 'w:*', `w:${'x'.repeat(65)}`, 7, null];
    await publishAll(client, [...names, 'w:a'].map(completed));
    await service.settle();
    expect(endpoint.received.map(({ body }) => JSON.parse(String(body)).data.document_key)).toEqual(['w:a']);
    expect((await all(client, '')).map(({ data }) => data.document_key).reverse()).toEqual([...names, 'w:a']);
  });
});

describe('the events of a batch', () => {
  const written = async (client: Client, query = '') =>
    (await all(client, query)).map(({ data }) => data.revision).reverse();
  const numbers = Array.from({ length: 60 }, (_, i) => i + 1);

  it('are listed in the order of publication, newest first, in one document and in several, over pages', async () => {
    for (const keyOf of [() => 'org:acme:one', (i: number) => `org:acme:${i % 7}`]) {
      const client = await (await service.project()).client('live');
      await publishAll(
        client,
        numbers.map((i) => deleted(keyOf(i), i)),
      );
      for (const query of ['limit=100', 'limit=7']) expect(await written(client, query)).toEqual(numbers);
      expect(await written(client, `document_key=${keyOf(1)}`)).toEqual(numbers.filter((i) => keyOf(i) === keyOf(1)));
    }
  });

  it('are logged for a webhook in the same order', async () => {
    const client = await (await service.project()).client('live');
    const { id } = await createWebhook(client, service.endpoint().url);
    const published = await publishAll(
      client,
      numbers.map((i) => deleted(`d${i % 7}`, i)),
    );
    await service.settle();
    const log = await listed(client, `/v1/webhooks/${id}/deliveries?limit=100`);
    expect(log.map(({ event_id }) => event_id).reverse()).toEqual(published);
  });

  it('are returned to a repeated request as they were stored, although no record contains them', async () => {
    const client = await (await service.project()).client('live');
    const occurred_at = new Date(service.clock.now() - 29 * 24 * 60 * 60 * 1000).toISOString();
    const events = [{ ...deleted('a', 1), occurred_at }, deleted('b', 2)];
    const headers = { 'Idempotency-Key': 'stored' };
    const written: Record<string, string> = {};
    service.faults.command = (name, input) => {
      written[name] = (written[name] ?? '') + JSON.stringify(input);
      return undefined;
    };
    const first = await client('POST', '/v1/events/batch', { body: { events }, headers });
    expect(written.TransactWrite).toContain('document_key');
    expect([written.Put, written.Update].join()).not.toContain('document_key');
    delete written.TransactWrite;
    service.clock.skip(23 * 60 * 60 * 1000);
    const swapped = events.map((event) => Object.fromEntries(Object.entries(event).reverse()));
    const again = await client('POST', '/v1/events/batch', { body: { events: swapped }, headers });
    service.faults.command = () => undefined;
    expect([again.status, again.text, written.TransactWrite]).toEqual([202, first.text, undefined]);
    expect(again.headers['idempotency-replayed']).toBe('true');
    expect(await all(client, '')).toHaveLength(2);
  });

  it('have the same ids when the request is repeated', async () => {
    const client = await (await service.project()).client('live');
    const request = { body: { events: [changed(), changed()] }, headers: { 'Idempotency-Key': 'once' } };
    service.faults.command = (name, input) =>
      name === 'Update' && JSON.stringify(input).includes('response') ? new Error('The write failed') : undefined;
    expect((await client('POST', '/v1/events/batch', request)).status).toBe(500);
    service.faults.command = () => undefined;
    const stored = await all(client, '');
    const { data } = (await client('POST', '/v1/events/batch', request)).body;
    expect(await all(client, '')).toEqual(stored);
    expect(data).toEqual(stored.reverse());
  });
});

it('the conflict of a write is listed before its change', async () => {
  const client = await (await service.project()).client('live');
  for (let i = 0; i < 10; i++) {
    await put(client, `d${i}`, { a: 0 });
    for (const a of [1, 2]) await client('PATCH', `/v1/documents/d${i}`, { body: { fields: { a }, base_revision: 1 } });
    const types = (await all(client, `document_key=d${i}`)).map(({ type }) => type);
    expect(types).toEqual(['sync.conflict', 'document.changed', 'document.changed', 'document.created']);
  }
});

describe('an event', () => {
  it('is returned to a repeated request as it was stored, although its record does not contain it', async () => {
    const client = await (await service.project()).client('live');
    const request = { body: changed({ document_key: 'from-my-engine' }), headers: { 'Idempotency-Key': 'single' } };
    const writes: string[] = [];
    service.faults.command = (name, input) => {
      const write = JSON.stringify(input);
      if (!isRead(name) && write.includes('IDEMPOTENCY#')) writes.push(write);
      return undefined;
    };
    const first = await client('POST', '/v1/events', request);
    expect(writes).toHaveLength(2); // the start and the end of the request
    expect(writes.join()).not.toContain('from-my-engine');
    service.clock.skip(23 * 60 * 60 * 1000);
    const again = await client('POST', '/v1/events', request);
    service.faults.command = () => undefined;
    expect([again.status, again.text, again.headers['idempotency-replayed']]).toEqual([202, first.text, 'true']);
    expect(await all(client, '')).toEqual([first.body]);
  });

  it.each([
    'EVENT#',
    'IDEMPOTENCY#',
  ])('is published once if the request is repeated after a failed write of %s', async (kind) => {
    const client = await (await service.project()).client('live');
    const request = { body: changed(), headers: { 'Idempotency-Key': 'once' } };
    service.faults.command = (name, input) => {
      const isLate = kind === 'EVENT#' || name === 'Update';
      return !isRead(name) && isLate && JSON.stringify(input).includes(kind)
        ? new Error('The write failed')
        : undefined;
    };
    expect((await client('POST', '/v1/events', request)).status).toBe(500);
    service.faults.command = () => undefined;
    const stored = await all(client, '');
    expect(stored).toHaveLength(kind === 'EVENT#' ? 0 : 1);
    service.clock.skip(60_000); // the failed request counts as ended
    const { body } = await client('POST', '/v1/events', request);
    expect([[body], stored]).toEqual([await all(client, ''), kind === 'EVENT#' ? [] : [body]]);
  });

  it('is listed as it is delivered, with the deepest values and every digit', async () => {
    const client = await (await service.project()).client('live');
    const write = async (method: string, value: string, members = '') => {
      const body = `{"fields":{"a":${'['.repeat(198)}${value}${']'.repeat(198)}}${members}}`;
      expect((await client(method, '/v1/documents/deep', { body })).status).toBeLessThan(300);
    };
    await write('PUT', '12345678901234567890,1e400,1.0');
    await write('PATCH', '2');
    await write('PATCH', '3', ',"base_revision":1');
    const { text, body } = await client('GET', '/v1/events');
    const types = ['document.changed', 'document.changed', 'document.created', 'sync.conflict'];
    expect(body.data.map(({ type }: { type: string }) => type).sort()).toEqual(types);
    expect(text).toContain('12345678901234567890,1e400,1.0');
    for (const { id } of body.data) expect(text).toContain((await client('GET', `/v1/events/${id}`)).text);
  });

  it('is left out of a list if it expires while the list is read', async () => {
    const project = await service.project();
    const client = await project.client('live');
    const [expired, kept] = await publishAll(client, [deleted('a', 1), deleted('a', 2)]);
    const Key = itemKey.event({ projectId: project.id, environment: 'live' }, expired as string);
    service.faults.command = (name, input) => {
      if (name === 'BatchGet' && JSON.stringify(input).includes(Key.sk))
        service.db.execute({ name: 'Delete', input: { TableName: VARIABLES.TABLE_NAME, Key } });
      return undefined;
    };
    expect((await listed(client, '/v1/events')).map(({ id }) => id)).toEqual([kept]);
    service.faults.command = () => undefined;
  });
});

it('a batch of 100 is stored completely or not at all, whichever write fails', async () => {
  const client = await (await service.project()).client('live');
  const body = { events: Array.from({ length: 100 }, () => changed()) };
  const seen: [status: number, stored: number][] = [];
  for (let failing = 1; seen.at(-1)?.[0] !== 202; failing++) {
    let writes = 0;
    const isFailing = (name: string) => name === 'TransactWrite' && ++writes === failing;
    service.faults.command = (name) => (isFailing(name) ? new Error('The write failed') : undefined);
    const { status } = await client('POST', '/v1/events/batch', { body });
    service.faults.command = () => undefined;
    seen.push([status, (await all(client, 'limit=100')).length]);
  }
  expect(seen).toEqual([...Array(seen.length - 1).fill([500, 0]), [202, 100]]);
});

it('a large event is rejected alone and in a batch, and nothing is stored', async () => {
  const client = await (await service.project()).client('live');
  const event = (bytes: number) => changed({ note: 'x'.repeat(bytes) });
  for (const [path, body] of [
    ['/v1/events', event(256 * 1024)],
    ['/v1/events/batch', { events: [changed(), event(256 * 1024)] }],
  ] as const)
    expect(code(await client('POST', path, { body }))).toEqual([413, 'payload_too_large']);
  expect(await all(client, '')).toEqual([]);
  expect((await client('POST', '/v1/events', { body: event(255 * 1024) })).status).toBe(202);
  // The limit applies to each event of a batch.
  const batch = { events: Array(4).fill(event(255 * 1024)) };
  expect((await client('POST', '/v1/events/batch', { body: batch })).status).toBe(202);
  // A request can be longer than the stored event.
  const escaped = JSON.stringify(event(100 * 1024)).replaceAll('x', '\\u0078');
  expect((await client('POST', '/v1/events', { body: escaped })).status).toBe(202);
});

describe('the time of a published event', () => {
  const DAY_MS = 24 * 60 * 60 * 1000;

  beforeEach(async () => {
    live = await (await service.project()).client('live');
  });

  const iso = (ms: number) => new Date(ms).toISOString();
  const publish = (occurred_at: unknown, headers = {}) =>
    live('POST', '/v1/events', { body: { ...changed(), occurred_at }, headers });
  const publishBatch = (times: unknown[]) =>
    live('POST', '/v1/events/batch', { body: { events: times.map((occurred_at) => ({ ...changed(), occurred_at })) } });

  it('is delivered and listed with the event, to the millisecond and in UTC, and does not decide which events a list contains', async () => {
    const endpoint = service.endpoint();
    await createWebhook(live, endpoint.url, { events: ['document.changed'] });
    const acceptedAt = service.clock.now() + 1; // the clock advances with each request
    const { status, body } = await publish('2026-01-31T12:59:30.123456+01:00');
    expect([status, body.timestamp, body.occurred_at]).toEqual([202, iso(acceptedAt), '2026-01-31T11:59:30.123Z']);
    expect(Object.keys(body)).toEqual(['id', 'type', 'timestamp', 'occurred_at', 'data']);
    await service.settle();
    expect(JSON.parse(String(endpoint.received[0]?.body))).toEqual(body);
    expect(await listed(live, `/v1/events?since=${iso(acceptedAt)}`)).toEqual([body]);
    expect(await listed(live, `/v1/events?until=${iso(acceptedAt)}`)).toEqual([]);
  });

  it('is different for each event of a batch, and absent if the publisher does not send it', async () => {
    const times = [1000, 2000].map((ms) => iso(service.clock.now() - ms));
    const { data } = (await publishBatch([...times, undefined])).body;
    expect(data.map((event: { occurred_at?: string }) => event.occurred_at)).toEqual([...times, undefined]);
    expect((await publish(null)).body).not.toHaveProperty('occurred_at');
    expect(Object.keys(data[2])).toEqual(['id', 'type', 'timestamp', 'data']);
    expect(new Set(data.map((event: { timestamp: string }) => event.timestamp)).size).toBe(1);
  });

  it('is at most 30 days ago and 5 minutes in the future', async () => {
    const statusAt = async (distanceMs: number) => {
      const answer = await publish(iso(service.clock.now() + 1 + distanceMs));
      return answer.status === 400 ? answer.body.errors : answer.status;
    };
    const violations = [{ field: 'occurred_at', detail: 'must be at most 30 days ago, and not in the future' }];
    for (const inRange of [-30 * DAY_MS, 0, 300_000]) expect(await statusAt(inRange)).toBe(202);
    for (const outside of [-30 * DAY_MS - 1, 300_001]) expect(await statusAt(outside)).toEqual(violations);
  });

  it('is rejected for the whole batch, with every violation', async () => {
    const wrong = [iso(service.clock.now() - 31 * DAY_MS), 'yesterday', 1];
    for (const body of ['null', '{"events":"x"}'])
      expect(code(await live('POST', '/v1/events/batch', { body }))).toEqual([400, 'invalid_request']);
    const { status, body } = await publishBatch([iso(service.clock.now()), ...wrong]);
    expect(status).toBe(400);
    const fields = body.errors.map(({ field }: { field: string }) => field).sort();
    expect(fields).toEqual(wrong.map((_, i) => `events[${i + 1}].occurred_at`));
    expect(await listed(live, '/v1/events')).toEqual([]);
  });

  it('replays a response after the time has left the range', async () => {
    const headers = { 'Idempotency-Key': 'once' };
    const time = iso(service.clock.now() - 30 * DAY_MS + 60_000);
    const first = await publish(time, headers);
    await service.clock.advance(120_000);
    expect(code(await publish(time))).toEqual([400, 'invalid_request']);
    expect(await publish(time, headers)).toMatchObject({ status: 202, body: first.body });
  });

  it('is no member of a test event', async () => {
    const { id } = await createWebhook(live, 'https://example.com/hook');
    const body = { ...changed(), occurred_at: iso(service.clock.now()) };
    expect((await live('POST', `/v1/webhooks/${id}/test`, { body })).body.errors).toEqual([
      { field: 'occurred_at', detail: 'is not a known field' },
    ]);
  });
});
