import { randomBytes } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { auditEntry } from '../../../lib/audit/store.ts';
import { itemKey } from '../../../lib/aws/items.ts';
import type { Post } from '../../../lib/deliveries/attempt.ts';
import { applyChange } from '../../../lib/webhooks/apply-change.ts';
import { serviceSignature, standardSignature } from '../../../lib/webhooks/signing.ts';
import { webhooks } from '../../../lib/webhooks/store.ts';
import {
  ChangeWebhook,
  DEFAULT_SETTINGS,
  type WebhookChange,
  type WebhookRecord,
} from '../../../lib/webhooks/webhook.ts';
import { newWebhook } from '../../memory/contracts/builders.ts';
import { code } from '../../support/documents.ts';
import { memoryService } from '../../support/memory-service.ts';
import { memoryBackend } from '../../support/memory-table.ts';
import { createWebhook, publish, settled } from '../../support/requests.ts';
import type { Answer, Client } from '../../support/service.ts';

const service = memoryService();
const live = async () => (await service.project()).client('live');
const invalid = [400, 'invalid_request'];

/** Those of the secrets that sign the next delivery. */
async function signingAmong(secrets: readonly string[], client: Client, { received }: { received: Post[] }) {
  const event = await publish(client);
  await service.settle();
  const { headers, body } = received.at(-1) ?? { headers: {} as Record<string, string>, body: '' };
  expect(body).toBe(event.text);
  const signatures = headers['webhook-signature']?.split(' ') ?? [];
  const [id = '', seconds] = [headers['webhook-id'], headers['webhook-timestamp']];
  const found = secrets.filter((secret) => signatures.includes(standardSignature(secret, id, Number(seconds), body)));
  expect(found).toHaveLength(signatures.length);
  const newestPrevious = found.at(-2);
  const previous = newestPrevious === undefined ? undefined : serviceSignature(newestPrevious, body);
  expect(headers['X-Service-Signature-Previous']).toBe(previous);
  return found;
}

describe('a webhook', () => {
  it('is described without its secret', async () => {
    const client = await live();
    const url = 'https://example.com/b?%C3%A4'; // in the form of the URL standard
    const secret = 'my own long enough secret';
    const created = await client('POST', '/v1/webhooks', {
      body: {
        ...{ url: 'HTTPS://EXAMPLE.com:443/a/../b?ä', events: ['sync.completed'], documents: ['org:*'] },
        ...{ secret, description: 'D', max_per_second: 7 },
      },
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
      ...{ documents: ['org:*'], headers: {}, max_per_second: 7 },
      ...{ failing_since: null, disabled_at: null, disabled_reason: null },
    });
    expect((await client('GET', `/v1/webhooks/${rest.id}`)).body).toEqual(rest);
    expect((await client('GET', '/v1/webhooks')).body).toEqual({ data: [rest], next_cursor: null });
    const generated = await createWebhook(client, url);
    expect(generated).toMatchObject({
      documents: [],
      max_per_second: null,
      secret: expect.stringMatching(/^whsec_[A-Za-z0-9+/]{43}=$/),
    });
  });

  it('is one of at most 100 in its environment', async () => {
    const { admin: client } = await service.project();
    const body = { url: 'https://example.com/', events: ['sync.completed'] };
    const create = (query = '') => client('POST', `/v1/webhooks${query}`, { body });
    const answers: Answer[] = [];
    for (let i = 0; i < 100; i++) answers.push(await create());
    expect(answers.filter(({ status }) => status === 201)).toHaveLength(100);
    expect(code(await create())).toEqual([409, 'limit_reached']);
    expect((await create('?environment=sandbox')).status).toBe(201);
    expect((await client('DELETE', `/v1/webhooks/${answers[0]?.body.id}`)).status).toBe(204);
    expect((await create()).status).toBe(201);
  });

  it('sends a test event with the data of the request, in its environment', async () => {
    const client = await (await service.project()).client('test');
    const receiver = service.endpoint();
    const { id } = await createWebhook(client, receiver.url);
    const data = { document_key: 'a:b', revision: 7, origin: 'me', amount: 1.1 };
    await client('POST', `/v1/webhooks/${id}/test`, { body: { type: 'document.deleted', data } });
    await service.settle();
    expect(receiver.received.map(({ body }) => JSON.parse(body).data)).toEqual([data]);
    const { document_key: _, ...incomplete } = data;
    const refused = await client('POST', `/v1/webhooks/${id}/test`, {
      body: { type: 'document.deleted', data: incomplete },
    });
    expect(code(refused)).toEqual(invalid);
    expect(receiver.received).toHaveLength(1);
  });

  it('can be tested with one attempt that disables nothing, also during a pause', async () => {
    const client = await live();
    const receiver = service.endpoint(500);
    const bystander = service.endpoint();
    await createWebhook(client, bystander.url);
    const { id } = await createWebhook(client, receiver.url, { events: ['document.deleted'] });
    await client('PATCH', `/v1/webhooks/${id}`, { body: { status: 'disabled' } });
    const { event_id } = (await client('POST', `/v1/webhooks/${id}/test`)).body;
    await service.settle();
    const delivery = await settled(client, id, event_id);
    expect(delivery).toMatchObject({ status: 'failed', test: true, event_type: 'document.changed' });
    const request_headers = { 'X-Service-Test': 'true', 'X-Service-Event-Id': event_id };
    expect(delivery.attempts).toMatchObject([{ number: 1, trigger: 'test', request_headers }]);
    expect((await client('GET', `/v1/webhooks/${id}/recover`)).body).toEqual({ count: 0, recovery: null });
    expect((await client('GET', `/v1/webhooks/${id}`)).body.failing_since).toBeNull();
    expect(receiver.received).toHaveLength(1);
    expect(bystander.received).toHaveLength(0);
    expect(service.emails.filter(({ text }) => text.includes(id))).toEqual([]);
  });
});

describe('the secret of a webhook', () => {
  const HOUR_MS = 60 * 60 * 1000;
  const rotating = (client: Client, id: string) => (call?: object) =>
    client('POST', `/v1/webhooks/${id}/rotate-secret`, call);

  it('signs for 24 hours after its rotation, also after further rotations', async () => {
    const client = await live();
    const endpoint = service.endpoint();
    const { id, secret } = await createWebhook(client, endpoint.url);
    const rotate = rotating(client, id);
    await service.clock.advance(HOUR_MS);
    const second = (await rotate()).body.secret;
    await service.clock.advance(HOUR_MS);
    const third = (await rotate()).body.secret;
    const secrets = [secret, second, third];
    expect(new Set(secrets.map((each) => /^whsec_/.test(each))).size).toBe(1);
    expect(await signingAmong(secrets, client, endpoint)).toEqual(secrets);
    await service.clock.advance(23 * HOUR_MS);
    expect(await signingAmong(secrets, client, endpoint)).toEqual([second, third]);
    await service.clock.advance(HOUR_MS);
    expect(await signingAmong(secrets, client, endpoint)).toEqual([third]);
    const own = await rotate({ body: { secret: 'chosen' } });
    expect([own.body.secret, own.body.secret_hint]).toEqual(['chosen', '']);
    for (const expired of [secret, second]) expect(JSON.stringify([...service.db.items()])).not.toContain(expired);
  });

  it('stops signing now if it has leaked, and cannot be replaced by itself', async () => {
    const client = await live();
    const endpoint = service.endpoint();
    const { id, secret } = await createWebhook(client, endpoint.url);
    const rotate = rotating(client, id);
    const second = (await rotate()).body.secret;
    const same = await rotate({ body: { secret: second } });
    expect([same.status, same.body.code]).toEqual([409, 'conflict']);
    expect(await signingAmong([secret, second], client, endpoint)).toEqual([secret, second]);
    const third = (await rotate({ body: { grace_seconds: 0 } })).body.secret;
    expect(await signingAmong([secret, second, third], client, endpoint)).toEqual([third]);
    expect(code(await rotate({ body: { grace_seconds: 86_401 } }))).toEqual([400, 'invalid_request']);
  });

  it('has at most 5 predecessors that still sign', async () => {
    const client = await live();
    const { id } = await createWebhook(client, 'https://example.com/');
    const rotate = rotating(client, id);
    const rotated: Answer[] = [];
    for (let i = 0; i < 5; i++) {
      rotated.push(await rotate());
      await service.clock.advance(HOUR_MS);
    }
    expect(rotated.map(({ status }) => status)).toEqual(Array(5).fill(200));
    const next = Date.parse(rotated[0]?.body.updated_at) + 24 * HOUR_MS;
    const rejected = {
      code: 'limit_reached',
      detail: `Rotate the secret again after ${new Date(next).toISOString()}, or with grace_seconds 0. 5 previous secrets still sign deliveries.`,
    };
    expect(await rotate()).toMatchObject({ status: 409, body: rejected });
    await service.clock.advance(next - service.clock.now() - 2); // each request takes a millisecond
    expect(await rotate()).toMatchObject({ status: 409, body: rejected });
    expect((await rotate()).status).toBe(200);
  });
});

const now = 2000;
const created = { createdAt: 1000, updatedAt: 1000 };
const webhook = newWebhook({ ...created, events: ['document.changed'], maxPerSecond: 9 });

/** Applies a change to a stored webhook. Returns what is stored then, and the detail of the audit entry of the change. */
async function applied(change: WebhookChange, stored = webhook) {
  const backend = memoryBackend({ clock: () => now });
  const store = webhooks(backend.table);
  await store.create(stored, []);
  await applyChange(backend, webhook, webhook.id, change, (entry) =>
    auditEntry({ projectId: webhook.projectId, ...entry }, randomBytes),
  );
  const entry = [...backend.db.items()].find(({ pk }) => String(pk).startsWith('AUDIT#'));
  return { stored: await store.get(webhook, webhook.id), detail: entry?.detail };
}

const key = itemKey.webhook(webhook, webhook.id);
const unproven = { quickSince: undefined, slowUntil: undefined };
const notOverloaded = { overloadedBy: undefined, overloadedAt: undefined, overloadingUntil: undefined };
const notEmailed = { disabledBy: undefined, emailedAt: undefined, emailingUntil: undefined };
const proven = { quickSince: 1, slowUntil: 2 };
/** A webhook with the state that deliveries and earlier changes leave in it. */
const complete: WebhookRecord = {
  ...{ ...webhook, ...proven, previousSecrets: [{ secret: 'old', until: 3 }], subscribedAt: 4 },
  ...{ description: 'Old', documents: ['b:*'], headers: [['X-Tenant', 'acme']] },
  ...{ failingSince: 5, undeliveredSince: 6, disabledAt: 7 },
  ...{ warnedBy: 'evt_1#0', warnedAt: 8, warningUntil: 9 },
  ...{ disabledBy: 'evt_1#0', emailedAt: 10, emailingUntil: 11 },
  ...{ overloadedBy: 'evt_1#0', overloadedAt: 12, overloadingUntil: 13 },
};
const paused = { status: 'disabled', disabledReason: 'paused' } as const;
const others = {
  ...{ url: 'https://example.org/', events: ['sync.completed'], documents: ['a:*'], headers: [['X-New', '1']] },
  description: 'New',
} satisfies WebhookChange;
/** Every member but the status. */
const all = { ...others, max_per_second: 5 } satisfies WebhookChange;
const allStored = { ...others, subscribedAt: now, maxPerSecond: 5, ...notOverloaded, ...unproven };

describe('a change of a webhook', () => {
  it.each<[WebhookChange, Partial<WebhookRecord>, before?: Partial<WebhookRecord>]>([
    [{ description: 'New' }, { description: 'New' }],
    [{ url: 'https://example.org/' }, { url: 'https://example.org/', ...unproven }], // the audit entry has no URL
    [{ events: ['sync.completed'] }, { events: ['sync.completed'], subscribedAt: now }],
    [{ documents: ['a:*'] }, { documents: ['a:*'], subscribedAt: now }],
    [{ max_per_second: 5 }, { maxPerSecond: 5, ...notOverloaded }],
    [{ max_per_second: null }, { maxPerSecond: undefined, ...notOverloaded }],
    [{ status: 'enabled' }, { status: 'enabled', disabledReason: undefined, ...unproven, ...notEmailed }, paused],
    [
      { status: 'disabled', description: 'New' },
      { ...paused, disabledAt: now, description: 'New' },
    ],
    [{ status: 'disabled' }, { ...paused, disabledAt: now, undeliveredSince: now }, { undeliveredSince: undefined }],
    [
      { ...all, status: 'enabled' },
      { ...allStored, status: 'enabled', disabledReason: undefined, ...notEmailed },
      paused,
    ],
    [
      { ...all, status: 'disabled' },
      { ...allStored, ...paused, disabledAt: now },
    ],
  ])('stores and removes only the members that %j affects', async (change, expected, of) => {
    const status = change.status && { status: change.status };
    const detail = { environment: 'live', changed: Object.keys(change), ...status };
    const before = { ...complete, ...of };
    const stored = { ...key, ...before, ...expected, updatedAt: now };
    expect(await applied(change, before)).toEqual({ stored, detail });
  });

  const bare = { ...webhook };
  for (const absent of ['documents', 'headers', 'maxPerSecond'] as const) delete bare[absent];
  const withDefaults = Object.keys(ChangeWebhook.entries).filter((name) => DEFAULT_SETTINGS[name] !== undefined);
  it.each<[WebhookChange, WebhookRecord]>([
    [{ url: 'HTTPS://EXAMPLE.com' }, { ...webhook, ...proven }],
    ...withDefaults.map((name): [WebhookChange, WebhookRecord] => [{ [name]: DEFAULT_SETTINGS[name] }, bare]),
  ])('stores nothing for %j, which is the stored URL or the default of an absent member', async (change, before) => {
    expect(await applied(change, before)).toEqual({ stored: { ...key, ...before }, detail: undefined });
  });
});
