import { describe, expect, it } from 'vitest';
import { serviceSignature } from '../../../lib/webhooks/signature.ts';
import { changed } from '../../support/changed.ts';
import { startReceiver } from '../../support/receiver.ts';
import { type Attempt, createWebhook, deliveryOf, publish, publishAll, settled } from '../../support/requests.ts';
import { type Answer, eventually, FAST_DELAYS, useService } from '../../support/service.ts';

const service = useService(FAST_DELAYS);
const live = async () => (await service.project()).client('live');
const code = ({ status, body }: Answer) => [status, body.code];

describe('a webhook', () => {
  it('is described without its secret', async () => {
    const client = await live();
    const url = 'https://example.com/hook?a=1';
    const secret = 'my own long enough secret';
    const created = await client('POST', '/v1/webhooks', {
      body: { url, events: ['sync.completed'], secret, description: 'D' },
    });
    expect(created.body.secret).toBe(secret);
    const { secret: _, ...rest } = created.body;
    expect(rest).toMatchObject({
      url,
      events: ['sync.completed'],
      description: 'D',
      status: 'enabled',
      environment: 'live',
      secret_hint: 'cret',
    });
    expect((await client('GET', `/v1/webhooks/${rest.id}`)).body).toEqual(rest);
    expect((await client('GET', '/v1/webhooks')).body).toEqual({ data: [rest], next_cursor: null });
    const generated = await createWebhook(client, url);
    expect(generated.secret).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/);
  });

  it('is rejected with its violations, and nothing is stored', async () => {
    const client = await live();
    const valid = { url: 'https://example.com/', events: ['sync.completed'] };
    const faults = [
      { ...valid, url: 'http://user@example.com/#x' },
      { ...valid, url: 'nothing' },
      { ...valid, events: [] },
      { ...valid, events: ['sync.completed', 'sync.completed'] },
      { ...valid, events: 'sync.completed' },
      { ...valid, documents: ['a:**'] },
      { ...valid, headers: { 'X-Service-Event-Id': 'x', 'not a name': 'y' } },
      { ...valid, max_per_second: 0 },
      { ...valid, max_per_second: 501 },
      { ...valid, max_per_second: 1.5 },
      { ...valid, max_per_second: '5' },
      { ...valid, secret: '' },
      { ...valid, secret: 'a\nb' },
      { ...valid, secret: 'x'.repeat(257) },
      { url: valid.url },
      { ...valid, status: 'enabled' },
    ];
    for (const body of faults)
      expect(code(await client('POST', '/v1/webhooks', { body }))).toEqual([400, 'invalid_request']);
    expect((await client('GET', '/v1/webhooks')).body.data).toEqual([]);
  });

  it('is one of at most 100, also with concurrent creations', async () => {
    const client = await live();
    const body = { url: 'https://example.com/', events: ['sync.completed'] };
    const answers: Answer[] = [];
    for (let i = 0; i < 13; i++)
      answers.push(...(await Promise.all(Array.from({ length: 8 }, () => client('POST', '/v1/webhooks', { body })))));
    expect(answers.filter(({ status }) => status === 201)).toHaveLength(100);
    expect(answers.filter((answer) => answer.body.code === 'limit_reached')).toHaveLength(4);
    expect((await client('DELETE', `/v1/webhooks/${answers[0]?.body.id}`)).status).toBe(204);
    expect((await client('POST', '/v1/webhooks', { body })).status).toBe(201);
  });

  it('changes only the given members', async () => {
    const client = await live();
    const { id, secret: _, ...before } = await createWebhook(client, 'https://example.com/');
    const answer = await client('PATCH', `/v1/webhooks/${id}`, {
      body: { events: ['document.deleted'], description: null },
    });
    expect(answer.body).toEqual({
      ...before,
      id,
      events: ['document.deleted'],
      description: null,
      updated_at: answer.body.updated_at,
    });
    expect((await client('GET', `/v1/webhooks/${id}`)).body).toEqual(answer.body);
    for (const body of [{ status: 'on' }, { url: 'ftp://example.com' }, { id: 'x' }]) {
      expect(code(await client('PATCH', `/v1/webhooks/${id}`, { body }))).toEqual([400, 'invalid_request']);
    }
    expect(code(await client('PATCH', '/v1/webhooks/whk_x', { body: {} }))).toEqual([404, 'not_found']);
  });

  it('can recover everything after a pause', async () => {
    const client = await live();
    const receiver = await startReceiver();
    const { id } = await createWebhook(client, receiver.url);
    const since = new Date(service.stack.clock.now() - 1000).toISOString();
    const paused = await client('PATCH', `/v1/webhooks/${id}`, { body: { status: 'disabled' } });
    expect(paused.body).toMatchObject({
      status: 'disabled',
      disabled_reason: 'paused',
      disabled_at: paused.body.updated_at,
    });
    const events = await Promise.all([1, 2, 3].map((revision) => publish(client, changed({ revision }))));
    for (const { body } of events) expect((await settled(client, id, body.id)).status).toBe('skipped');
    expect(code(await client('POST', `/v1/webhooks/${id}/recover`, { body: { since } }))).toEqual([409, 'conflict']);
    expect(code(await client('POST', `/v1/webhooks/${id}/deliveries/${events[0]?.body.id}/redeliver`))).toEqual([
      409,
      'conflict',
    ]);

    const path = `/v1/webhooks/${id}/recover`;
    expect((await client('GET', path)).body).toEqual({ count: 3 });
    expect((await client('GET', `${path}?until=${since}`)).body).toEqual({ count: 0 });
    expect(receiver.received).toHaveLength(0);
    const recovered = await client('POST', path, { body: { enable: true } });
    expect([recovered.status, recovered.body]).toEqual([202, { count: 3 }]);
    await receiver.until(3);
    expect(receiver.received.map(({ body }) => body).sort()).toEqual(events.map(({ text }) => text).sort());
    for (const { body } of events) expect((await settled(client, id, body.id)).status).toBe('succeeded');
    expect((await client('POST', path, { body: { since } })).body).toEqual({ count: 0 });
    const enabled = await client('GET', `/v1/webhooks/${id}`);
    expect(enabled.body).toMatchObject({ status: 'enabled', disabled_reason: null, disabled_at: null });
    expect(code(await client('POST', path, { body: { per_second: 0, since: 'x' } }))).toEqual([400, 'invalid_request']);
  });

  it('with a rate limit gets every delivery, some of them later, until the limit is removed', async () => {
    const client = await live();
    const receiver = await startReceiver();
    const { id } = await createWebhook(client, receiver.url, { max_per_second: 20 });
    expect((await client('GET', `/v1/webhooks/${id}`)).body.max_per_second).toBe(20);
    const ids = await publishAll(
      client,
      Array.from({ length: 50 }, () => changed()),
    );
    await receiver.until(50);
    expect(receiver.received.map(({ headers }) => headers['x-service-event-id']).sort()).toEqual(ids.sort());
    const isDelayed = (line: string) => line.includes(id) && line.includes('"reason":"delay"');
    const delays = () => service.log.join('').split('\n').filter(isDelayed).length;
    expect(delays()).toBeGreaterThan(0);
    for (const eventId of ids) {
      const { attempts } = await settled(client, id, eventId);
      expect(attempts.map(({ number }: Attempt) => number)).toEqual([1]);
    }
    const changes = [
      [{ max_per_second: 1 }, 1],
      [{ description: 'x' }, 1],
      [{ max_per_second: null }, null],
    ] as const;
    for (const [body, expected] of changes)
      expect((await client('PATCH', `/v1/webhooks/${id}`, { body })).body.max_per_second).toBe(expected);
    const before = delays();
    await publishAll(
      client,
      Array.from({ length: 50 }, () => changed()),
    );
    await receiver.until(100);
    expect(delays()).toBe(before);
  });

  it('receives nothing when it is paused between two attempts', async () => {
    const client = await live();
    const receiver = await startReceiver();
    const { id } = await createWebhook(client, receiver.url);
    receiver.behave(async (response) => {
      await client('PATCH', `/v1/webhooks/${id}`, { body: { status: 'disabled' } });
      response.writeHead(500).end();
    });
    const event = await publish(client);
    const delivery = await settled(client, id, event.body.id);
    expect(delivery).toMatchObject({
      status: 'canceled',
      next_attempt_at: null,
      attempts: [{ number: 1, status_code: 500 }],
    });
    expect(receiver.received).toHaveLength(1);
  });

  it('signs with both secrets for 24 hours after a rotation', async () => {
    const client = await live();
    const receiver = await startReceiver();
    const old = await createWebhook(client, receiver.url);
    const fresh = (await client('POST', `/v1/webhooks/${old.id}/rotate-secret`)).body;
    expect(fresh.secret).toMatch(/^whsec_/);
    expect(fresh.secret).not.toBe(old.secret);
    await publish(client);
    const [first] = await receiver.until(1);
    const { headers = {}, body = '' } = first ?? {};
    expect(headers['x-service-signature']).toBe(serviceSignature(fresh.secret, body));
    expect(headers['x-service-signature-previous']).toBe(serviceSignature(old.secret, body));
    for (const { secret } of [old, fresh]) expect(() => service.verified(secret, { headers, body })).not.toThrow();

    service.stack.clock.advance(24 * 60 * 60 * 1000);
    await publish(client);
    const { headers: later = {} } = (await receiver.until(2))[1] ?? {};
    expect(later).not.toHaveProperty('x-service-signature-previous');
    expect(later['webhook-signature']?.split(' ')).toHaveLength(1);
    const own = await client('POST', `/v1/webhooks/${old.id}/rotate-secret`, { body: { secret: 'chosen' } });
    expect(own.body.secret).toBe('chosen');
    expect(own.body.secret_hint).toBe('');
  });

  it('can be tested with one attempt that disables nothing, also during a pause', async () => {
    const client = await live();
    const receiver = await startReceiver(500);
    const bystander = await startReceiver();
    await createWebhook(client, bystander.url);
    const { id } = await createWebhook(client, receiver.url, { events: ['document.deleted'] });
    await client('PATCH', `/v1/webhooks/${id}`, { body: { status: 'disabled' } });
    const { event_id } = (await client('POST', `/v1/webhooks/${id}/test`)).body;
    const delivery = await settled(client, id, event_id);
    expect(delivery).toMatchObject({ status: 'failed', test: true, event_type: 'document.changed' });
    expect(delivery.attempts).toMatchObject([{ number: 1, trigger: 'test' }]);
    expect((await client('GET', `/v1/webhooks/${id}/recover`)).body).toEqual({ count: 0 });
    expect((await client('GET', `/v1/webhooks/${id}`)).body.failing_since).toBeNull();
    expect(receiver.received).toHaveLength(1);
    expect(bystander.received).toHaveLength(0);
    expect(service.stack.ses.emails.filter(({ text }) => text.includes(id))).toEqual([]);
    expect(code(await client('POST', `/v1/webhooks/${id}/test`, { body: { type: 'x' } }))).toEqual([
      400,
      'invalid_request',
    ]);
  });
});

describe('an event', () => {
  it('has a delivery to each of its webhooks, which is pending until its first attempt is recorded', async () => {
    const client = await live();
    const receiver = await startReceiver();
    const webhooks = [await createWebhook(client, receiver.url), await createWebhook(client, receiver.url)];
    const other = await createWebhook(client, receiver.url, { events: ['document.deleted'] });
    service.stack.endpoints.intercept = ({ principal }) =>
      principal.startsWith('DeliveryFanOut') ? 'error before' : undefined;
    const event = await publish(client);
    const path = `/v1/events/${event.body.id}/deliveries`;
    const { body } = await client('GET', path);
    const pending = { status: 'pending', attempts: [], created_at: event.body.timestamp };
    expect(body.data).toMatchObject(webhooks.map(({ id }) => ({ webhook_id: id, ...pending })));
    const delivery = `/v1/webhooks/${webhooks[0]?.id}/deliveries/${event.body.id}`;
    expect((await client('GET', delivery)).body).toEqual(body.data[0]);
    expect(code(await client('POST', `${delivery}/redeliver`))).toEqual([409, 'conflict']);
    const page = await client('GET', `${path}?limit=1`);
    expect(page.body).toEqual({ data: body.data.slice(0, 1), next_cursor: expect.any(String) });
    service.stack.endpoints.intercept = undefined;

    for (const { id } of webhooks) expect((await settled(client, id, event.body.id)).status).toBe('succeeded');
    expect((await client('GET', path)).body.data).toMatchObject(webhooks.map(() => ({ status: 'succeeded' })));
    // Nobody knows whether an earlier event was for a subscription that has changed since.
    await client('PATCH', `/v1/webhooks/${other.id}`, { body: { events: ['document.changed'] } });
    expect((await client('GET', `/v1/webhooks/${other.id}/deliveries/${event.body.id}`)).status).toBe(404);
    const stranger = await live();
    expect(code(await stranger('GET', path))).toEqual([404, 'not_found']);
  });
});

describe('the delivery log', () => {
  it('is newest first, filtered by status and time, in pages', async () => {
    const client = await live();
    const receiver = await startReceiver(
      (response, count) => void response.writeHead(count === 2 ? 400 : 200).end('<script>\u0007'),
    );
    const { id } = await createWebhook(client, receiver.url);
    const events: string[] = [];
    for (let i = 0; i < 4; i++) {
      events.unshift((await publish(client)).body.id);
      await receiver.until(i + 1);
    }
    await eventually(
      async () => (await client('GET', `/v1/webhooks/${id}/deliveries?status=succeeded`)).body.data.length === 4,
    );
    const ids = async (query: string) => {
      const { body } = await client('GET', `/v1/webhooks/${id}/deliveries?${query}`);
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
    const newest = await ids(`${document}&limit=3&status=succeeded`);
    expect(newest.ids).toEqual(events.slice(0, 3));
    expect((await ids(`${document}&limit=3&status=succeeded&cursor=${newest.next}`)).ids).toEqual(events.slice(3));
    expect((await ids(`${document}&until=${since}&type=document.changed`)).ids).toEqual(events.slice(2));
    for (const other of [`${document}&status=failed`, `${document}&type=document.created`, 'document_key=org:acme'])
      expect((await ids(other)).ids).toEqual([]);
    const delivery = await deliveryOf(client, id, events[2] ?? '');
    expect(
      delivery.attempts.map(({ status_code, response_excerpt }: Attempt) => [status_code, response_excerpt]),
    ).toEqual([
      [400, '<script>'],
      [200, '<script>'],
    ]);
    expect(
      code(await client('GET', `/v1/webhooks/${id}/deliveries?status=lost&since=yesterday&document_key=a:`)),
    ).toEqual([400, 'invalid_request']);
    const other = await live();
    expect(code(await other('GET', `/v1/webhooks/${id}/deliveries`))).toEqual([404, 'not_found']);
    expect(code(await other('GET', `/v1/webhooks/${id}/deliveries/${events[0]}`))).toEqual([404, 'not_found']);
  });

  it('lists a redelivery with the earlier attempts and the full schedule', async () => {
    const client = await live();
    const receiver = await startReceiver(500);
    const { id } = await createWebhook(client, receiver.url);
    const event = await publish(client);
    await settled(client, id, event.body.id);
    await client('PATCH', `/v1/webhooks/${id}`, { body: { status: 'enabled' } });
    receiver.behave((response, count) => void response.writeHead(count < 8 ? 500 : 200).end());
    const answer = await client('POST', `/v1/webhooks/${id}/deliveries/${event.body.id}/redeliver`);
    expect(answer.status).toBe(202);
    const delivery = await eventually(async () => {
      const found = await deliveryOf(client, id, event.body.id);
      return found.status === 'succeeded' ? found : undefined;
    });
    expect(delivery.attempts.map(({ number }: Attempt) => number)).toEqual([1, 2, 3, 4, 5, 6, 1, 2]);
    expect(receiver.received.map(({ body }) => body)).toEqual(Array(8).fill(event.text));
  });

  it('recovers windows of several pages', async () => {
    const client = await live();
    const receiver = await startReceiver();
    const { id } = await createWebhook(client, receiver.url);
    await client('PATCH', `/v1/webhooks/${id}`, { body: { status: 'disabled' } });
    const since = new Date(service.stack.clock.now() - 1).toISOString();
    for (let batch = 0; batch < 3; batch++) {
      await publishAll(
        client,
        Array.from({ length: 100 }, () => changed()),
      );
    }
    const path = `/v1/webhooks/${id}/recover`;
    await eventually(async () => (await client('GET', path)).body.count === 300);
    await client('PATCH', `/v1/webhooks/${id}`, { body: { status: 'enabled' } });
    const { body } = await client('POST', path, { body: { since, per_second: 100 } });
    expect(body).toEqual({ count: 300 });
    await receiver.until(300);
  });
});

describe('an endpoint', () => {
  const lanesOf = (id: string) =>
    service.log
      .join('')
      .split('\n')
      .filter((line) => line.includes(id) && line.includes('"delivery.attempted"'))
      .map((line) => /^DeliveryDeliver(New|Slow)?/.exec(line)?.[1] ?? 'Quick');

  it('moves to the quick lane after a quick response, and leaves it after a slow one', async () => {
    const client = await live();
    const receiver = await startReceiver();
    const { id } = await createWebhook(client, receiver.url);
    let delivered = 0;
    const deliver = async () => {
      delivered++;
      await settled(client, id, (await publish(client)).body.id);
      await eventually(() => lanesOf(id).length === delivered);
    };
    for (let i = 0; i < 3; i++) await deliver();
    expect(lanesOf(id)).toEqual(['New', 'Quick', 'Quick']);
    receiver.behave((response) => void setTimeout(() => response.writeHead(200).end(), 2600));
    await deliver();
    receiver.behave(200);
    await deliver();
    service.stack.clock.advance(10 * 60_000);
    for (let i = 0; i < 2; i++) await deliver();
    expect(lanesOf(id).slice(3)).toEqual(['Quick', 'Slow', 'New', 'Quick']);
    await client('PATCH', `/v1/webhooks/${id}`, { body: { status: 'disabled' } });
    await client('PATCH', `/v1/webhooks/${id}`, { body: { status: 'enabled' } });
    await deliver();
    expect(lanesOf(id).at(-1)).toBe('New');
  });
});

describe('a webhook with documents and headers', () => {
  it('receives only events of its documents, with its headers, and shows the exact request', async () => {
    const client = await live();
    const receiver = await startReceiver((response) => void response.writeHead(200, { 'X-Trace': 't-1' }).end());
    const own = { documents: ['org:acme:*'], headers: { Authorization: 'Bearer s3cret', 'X-Tenant': 'acme' } };
    const { id } = await createWebhook(client, receiver.url, own);
    const described = (await client('GET', `/v1/webhooks/${id}`)).body;
    expect(described).toMatchObject({ documents: own.documents, headers: { Authorization: '***', 'X-Tenant': '***' } });

    const other = await publish(client, changed({ document_key: 'org:other:doc' }));
    const event = await publish(client, changed({ document_key: 'org:acme:doc' }));
    const delivery = await settled(client, id, event.body.id);
    const [{ headers = {} } = {}] = receiver.received;
    expect(headers).toMatchObject({ authorization: 'Bearer s3cret', 'x-tenant': 'acme' });
    expect(delivery).toMatchObject({ document_key: 'org:acme:doc', url: receiver.url, test: false });
    const [{ request_headers: sent, response_headers: answered, trigger }] = delivery.attempts;
    expect(trigger).toBe('schedule');
    expect(answered).toMatchObject({ 'X-Trace': 't-1' });
    expect(sent).toMatchObject({ Authorization: '***', 'X-Tenant': '***' });
    for (const [name, value] of Object.entries(sent))
      if (value !== '***') expect([name, headers[name.toLowerCase()]]).toEqual([name, value]);
    expect(sent['X-Service-Signature']).toMatch(/^sha256=/);
    const { body } = await client('GET', `/v1/webhooks/${id}/deliveries`);
    expect(body.data).toMatchObject([{ event_id: event.body.id, attempts: [{ request_headers: null }] }]);
    expect((await client('GET', `/v1/webhooks/${id}/deliveries/${other.body.id}`)).status).toBe(404);
    expect(service.log.join('')).not.toContain('s3cret');

    await client('PATCH', `/v1/webhooks/${id}`, { body: { documents: [], headers: {} } });
    await publish(client, changed({ document_key: 'org:other:doc' }));
    expect((await receiver.until(2))[1]?.headers).not.toHaveProperty('authorization');
  });
});

describe('an outage', () => {
  it('can be recovered after a weekend with one call that enables the webhook, without losses', async () => {
    const client = await live();
    const receiver = await startReceiver();
    const { id } = await createWebhook(client, receiver.url);
    const webhook = async () => (await client('GET', `/v1/webhooks/${id}`)).body;
    const ok = await publish(client);
    expect((await settled(client, id, ok.body.id)).status).toBe('succeeded');

    receiver.behave(503);
    const broken = await Promise.all([1, 2, 3].map((revision) => publish(client, changed({ revision }))));
    const [first] = await eventually(async () => {
      const { body } = await client('GET', `/v1/webhooks/${id}/deliveries?status=failed`);
      return body.data.length > 0 && (await webhook()).status === 'disabled' ? body.data : undefined;
    });
    const outage = await webhook();
    expect(outage).toMatchObject({ status: 'disabled', disabled_reason: 'deliveries_failed' });
    expect(Date.parse(outage.failing_since)).toBeLessThan(Date.parse(first.attempts.at(-1).at));
    expect(Date.parse(outage.failing_since)).toBeGreaterThan(Date.parse(ok.body.timestamp));
    service.stack.clock.advance(2 * 24 * 60 * 60 * 1000);
    const missed = await Promise.all([4, 5].map((revision) => publish(client, changed({ revision }))));
    for (const { body } of [...broken, ...missed])
      expect(['failed', 'canceled', 'skipped']).toContain((await settled(client, id, body.id)).status);

    receiver.behave(200);
    const before = receiver.received.length;
    const call = { body: { enable: true }, headers: { 'Idempotency-Key': crypto.randomUUID() } };
    const recovered = await client('POST', `/v1/webhooks/${id}/recover`, call);
    expect([recovered.status, recovered.body]).toEqual([202, { count: 5 }]);
    const repeated = await client('POST', `/v1/webhooks/${id}/recover`, call);
    expect([repeated.body, repeated.headers['idempotency-replayed']]).toEqual([recovered.body, 'true']);
    await receiver.until(before + 5);
    const arrived = receiver.received.slice(before).map(({ body }) => body);
    expect(arrived.sort()).toEqual([...broken, ...missed].map(({ text }) => text).sort());
    await eventually(async () => (await webhook()).failing_since === null);
    expect(await webhook()).toMatchObject({ status: 'enabled', disabled_at: null, disabled_reason: null });

    const emails = service.stack.ses.emails.filter(({ text }) => text.includes(id)).map(({ subject }) => subject);
    expect(emails.map((subject) => subject.split(':')[0])).toEqual(['Webhook failing', 'Webhook disabled']);
    const delivery = await deliveryOf(client, id, missed[0]?.body.id);
    expect(delivery.attempts.map(({ trigger }: { trigger: string }) => trigger)).toEqual(['recovery']);
  });
});
