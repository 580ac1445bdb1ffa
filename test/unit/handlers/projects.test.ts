import { describe, expect, it } from 'vitest';
import { itemKey } from '../../../lib/aws/items.ts';
import { type DeliveryStatus, isUnderWay } from '../../../lib/deliveries/retry-schedule.ts';
import { SETTLE_MS } from '../../../lib/operators/deletion.ts';
import { projectExport } from '../../../lib/operators/export-store.ts';
import { changed } from '../../support/changed.ts';
import { memoryService } from '../../support/memory-service.ts';
import { memoryBackend } from '../../support/memory-table.ts';
import { createWebhook, publish, publishAll } from '../../support/requests.ts';
import { VARIABLES } from '../../support/runtime.ts';
import type { Project } from '../../support/service.ts';

const service = memoryService();
const { administer } = service;

/** The JSON of a response (Lambda quotas: 6 MB, measured). */
const MAX_RESPONSE_BYTES = 6_291_556;

/** A project with data of every kind, and its endpoint. */
async function used(name = 'Acme') {
  const project = await service.project(name);
  const live = await project.client('live');
  const endpoint = service.endpoint();
  const hook = await createWebhook(live, endpoint.url, { max_per_second: 10 });
  await publish(live);
  await live('PUT', '/v1/documents/d:1', { body: '{"fields":{"a":12345678901234567890}}' });
  const test = await project.client('test');
  const removed = await createWebhook(test, service.endpoint().url);
  await publish(test);
  await test('PUT', '/v1/documents/d:1', { body: { fields: {} } });
  await service.settle();
  await test('DELETE', `/v1/webhooks/${removed.id}`);
  await live('PUT', '/v1/connections/c-1', { body: { node_id: 'n', lease_seconds: 900 } });
  const cycle = { node_id: 'n', sync_id: crypto.randomUUID(), pattern: 'd:*', push: [], known: {} };
  await live('POST', '/v1/sync', { body: cycle });
  await live('POST', '/v1/events', { headers: { 'Idempotency-Key': crypto.randomUUID() }, body: changed() });
  return { ...project, live, hook, removed, endpoint };
}

const itemsOf = ({ id }: Pick<Project, 'id'>, ...webhooks: string[]) =>
  [...service.db.items()].filter((item) =>
    [id, ...webhooks].some((each) => JSON.stringify([item.pk, item.sk, item.keysOf]).includes(each)),
  );

/** Repeats an operation until its last page. */
async function pagesOf<Page extends object>(operation: object): Promise<Page[]> {
  const pages: (Page & { next: object | null })[] = [];
  let after: object | null | undefined;
  do {
    const page = (await administer({ ...operation, ...(after && { after }) })) as unknown as (typeof pages)[number];
    pages.push(page);
    after = page.next;
  } while (after);
  return pages;
}

async function exported(id: string) {
  const pages = await pagesOf<{ lines: string[] }>({ operation: 'export', id });
  for (const page of pages) expect(Buffer.byteLength(JSON.stringify(page))).toBeLessThanOrEqual(MAX_RESPONSE_BYTES);
  return pages.flatMap(({ lines }) => lines);
}

/** The log lines about operations on a project. */
const logged = ({ id }: Pick<Project, 'id'>): Record<string, unknown>[] =>
  service.log
    .map((line) => JSON.parse(line))
    .filter(({ message, project_id }) => project_id === id && /^(project|key)\./.test(message));

/** A project with webhooks that failed deliveries disabled, and the first of them. */
async function disabled(type: 'live' | 'test' = 'live', webhooks = 1) {
  const project = await service.project();
  const client = await project.client(type);
  const endpoint = service.endpoint(500);
  const { id } = await createWebhook(client, endpoint.url);
  for (let i = 1; i < webhooks; i++) await createWebhook(client, endpoint.url);
  const event = (await publish(client)).body.id;
  await service.settle();
  const webhook = async () => (await client('GET', `/v1/webhooks/${id}`)).body;
  expect(await webhook()).toMatchObject({ status: 'disabled', disabled_reason: 'deliveries_failed' });
  endpoint.behave(200);
  const delivery = async () => (await client('GET', `/v1/webhooks/${id}/deliveries/${event}`)).body.status;
  return { ...project, hook: id, webhook, delivery };
}

/** Calls until the deletion is complete or waits. */
async function remove(id: string, name?: string) {
  return (await administer({ operation: 'delete', id, ...(name && { name }) })) as Record<string, unknown>;
}

describe('the list of projects', () => {
  it('contains each project once with its state and size, over several pages, until it is deleted', async () => {
    const others = await Promise.all(Array.from({ length: 4 }, () => service.project()));
    const project = await used();
    await project.admin('POST', `/v1/keys/${await project.key('live')}/revoke`);
    const gone = await service.project();
    await remove(gone.id, 'Test');
    const list = async () => {
      const pages = await pagesOf<{ data: Record<string, unknown>[] }>({ operation: 'list', limit: 1 });
      return pages.flatMap(({ data }) => data);
    };
    const listed = await list();
    const ids = listed.map(({ id }) => id);
    expect(new Set(ids).size).toBe(ids.length);
    expect(ids.slice(-6)).toEqual([...others, project, gone].map(({ id }) => id));
    expect(listed.at(-2)).toMatchObject({ name: 'Acme', state: 'active', keys: 3, webhooks: 1, suspended_at: null });
    expect(listed.at(-2)?.deliveries_30_days).toBeGreaterThan(0);
    expect(listed.at(-1)).toEqual(await administer({ operation: 'show', id: gone.id }));
    await service.clock.advance(SETTLE_MS);
    expect(await remove(gone.id)).toMatchObject({ state: 'deleted' });
    expect((await list()).map(({ id }) => id)).toEqual(ids.slice(0, -1));
  });

  it('counts failed deliveries for 30 days', async () => {
    const { id } = await disabled();
    for (const [days, deliveries_30_days] of [
      [29, 1],
      [2, 0],
    ] as const) {
      await service.clock.advance(days * 24 * 3_600_000);
      expect(await administer({ operation: 'show', id })).toMatchObject({ deliveries_30_days });
    }
  });
});

describe('a suspended project', () => {
  it('rejects all of its credentials until it is resumed, and records each change once', async () => {
    const project = await used();
    const other = await used();
    const token = await project.live('POST', '/v1/tokens', {
      body: { documents: ['d:*'], permissions: ['read'], ttl: 600 },
    });
    const suspend = () => administer({ operation: 'suspend', id: project.id });
    const { suspended_at } = (await suspend()) as { suspended_at: string };
    await service.clock.advance(1000);
    expect(await suspend()).toMatchObject({ state: 'suspended', suspended_at });
    const clients = [project.admin, project.live, service.as(token.body.token)];
    for (const client of clients) {
      const answer = await client('GET', '/v1/documents/d:1');
      expect([answer.status, answer.body.code]).toEqual([403, 'project_suspended']);
    }
    expect((await other.live('GET', '/v1/documents/d:1')).status).toBe(200);
    for (const _ of [1, 2])
      expect(await administer({ operation: 'resume', id: project.id })).toMatchObject({ state: 'active' });
    const audit = await project.admin('GET', '/v1/audit');
    expect(audit.body.data.slice(0, 3)).toMatchObject([
      { action: 'project.resumed', actor: null },
      { action: 'project.suspended', actor: null },
      { action: 'webhook.deleted' },
    ]);
    const changes = ['created', 'suspended', 'resumed'].map((change) => `project.${change}`);
    expect(logged(project)).toEqual(changes.map((message) => ({ message, project_id: project.id })));
  });

  it('skips accepted events and cancels retries, and a recovery delivers them after it is resumed', async () => {
    const project = await used();
    project.endpoint.behave(500);
    const retried = await publish(project.live);
    await service.clock.advance(1000);
    const queued = await publish(project.live);
    const before = project.endpoint.received.length;
    const shown = async () =>
      (await administer({ operation: 'show', id: project.id })) as { deliveries_30_days: number };
    const { deliveries_30_days } = await shown();
    await administer({ operation: 'suspend', id: project.id });
    await service.settle();
    expect(project.endpoint.received).toHaveLength(before);
    expect((await shown()).deliveries_30_days).toBeGreaterThanOrEqual(deliveries_30_days + 2);
    await administer({ operation: 'resume', id: project.id });
    project.endpoint.behave(200);
    const deliveries = `/v1/webhooks/${project.hook.id}/deliveries`;
    const statusOf = async (id: string) => (await project.live('GET', `${deliveries}/${id}`)).body.status;
    expect([await statusOf(retried.body.id), await statusOf(queued.body.id)]).toEqual(['canceled', 'skipped']);
    const since = new Date(service.clock.now() - 30 * 60_000 * 60).toISOString();
    await project.live('POST', `/v1/webhooks/${project.hook.id}/recover`, { body: { since } });
    await service.settle();
    expect([await statusOf(retried.body.id), await statusOf(queued.body.id)]).toEqual(['succeeded', 'succeeded']);
  });
});

describe('the suspension of a project', () => {
  it('ends recoveries, retries, redeliveries and deliveries that wait, without another attempt or message', async () => {
    const project = await service.project();
    const live = await project.client('live');
    const endpoint = service.endpoint(500);
    const [hook, limited] = [
      await createWebhook(live, endpoint.url),
      await createWebhook(live, endpoint.url, { max_per_second: 1 }),
    ];
    const paths = [hook, limited].map(({ id }) => `/v1/webhooks/${id}`);
    const switchAll = (status: string) => Promise.all(paths.map((path) => live('PATCH', path, { body: { status } })));
    await switchAll('disabled');
    await publishAll(live, Array(60).fill(changed()));
    await service.clock.advance(1000);
    await switchAll('enabled');
    const [soon] = await publishAll(live, Array(30).fill(changed()));
    await service.clock.advance(8 * 60_000); // the next retries are half an hour later, and others wait for the limit
    for (const path of paths)
      expect((await live('POST', `${path}/recover`, { body: { per_second: 1 } })).status).toBe(202);
    await service.clock.advance(30_000);
    await live('POST', `${paths[0]}/deliveries/${soon}/redeliver`);
    await administer({ operation: 'suspend', id: project.id });
    const [attempts, messages] = [endpoint.received.length, service.messages.length];
    const waiting = [...service.db.items()].filter(
      ({ pk, status }) => /^HOOK#/.test(String(pk)) && isUnderWay(status as DeliveryStatus),
    );
    await service.settle();
    const sent = service.messages.slice(messages);
    expect(sent.filter((each) => 'recover' in each)).toHaveLength(paths.length);
    expect(sent.length).toBeLessThanOrEqual(waiting.length + 2 * paths.length);
    expect(endpoint.received).toHaveLength(attempts);
    const ended = waiting.map(({ pk, sk }) => service.db.get(String(pk), String(sk))?.status);
    expect(new Set(ended)).toEqual(new Set(['canceled']));
    expect(waiting.length).toBeGreaterThan(30);
  });
});

describe('an admin key of the operator', () => {
  it('works like any other, and is in the audit log and in the log', async () => {
    const { id } = await service.project();
    const created = (await administer({ operation: 'create-key', id })) as { id: string; key: string; type: string };
    expect(created).toMatchObject({ type: 'admin', name: 'Created by the operator', status: 'active' });
    const admin = service.as(created.key);
    const { data } = (await admin('GET', '/v1/audit')).body;
    const detail = { type: 'admin', name: 'Created by the operator', expires_at: null };
    const entry = { action: 'key.created', actor: null, target: created.id, detail };
    expect(data).toContainEqual(expect.objectContaining(entry));
    expect(logged({ id }).slice(1)).toEqual([{ message: 'key.created', project_id: id, key_id: created.id }]);
    expect((await admin('POST', `/v1/keys/${created.id}/rotate`)).status).toBe(201);
  });
});

describe('an export', () => {
  it('contains all data of the project once, with every digit and without secrets', async () => {
    const project = await used();
    await used('Other');
    const texts = await exported(project.id);
    const text = texts.join('\n');
    const lines: { type: string; environment?: string; data: { webhook_id?: string } }[] = texts.map((line) =>
      JSON.parse(line),
    );
    expect(new Set(texts).size).toBe(texts.length);
    expect(new Set(lines.map(({ type }) => type))).toEqual(
      new Set(['project', 'key', 'webhook', 'document', 'event', 'delivery', 'audit']),
    );
    for (const kind of ['document', 'event']) {
      const environments = lines.flatMap(({ type, environment }) => (type === kind ? [environment] : []));
      expect(new Set(environments)).toEqual(new Set(['live', 'sandbox']));
    }
    expect(lines.filter(({ type }) => type === 'delivery').map(({ data }) => data.webhook_id)).toEqual(
      expect.arrayContaining([project.hook.id, project.removed.id]),
    );
    const exact = lines.filter((_, i) => texts[i]?.includes('12345678901234567890'));
    expect(exact.map(({ type }) => type)).toEqual(['document', 'event']);
    for (const secret of [project.hook.secret, 'cursorSecret', 'tokenSecret', '"hash"'])
      expect(text).not.toContain(secret);
    expect(text).not.toContain('Other');
  });

  it.each([
    ['US-ASCII', 'x'.repeat(10_000), 600],
    ['characters of several bytes', '€'.repeat(40_000), 80],
  ])('omits deleted documents, and loses no other document over several pages: %s', async (_, text, count) => {
    const { id, client } = await service.project();
    const live = await client('live');
    await live('PUT', '/v1/documents/deleted', { body: { fields: {} } });
    await live('DELETE', '/v1/documents/deleted');
    await live('PUT', '/v1/documents/kept', { body: { fields: { text } } });
    const kept = service.db.get(`DOCS#${id}#live`, 'kept');
    const keys = Array.from({ length: count }, (_, i) => `kept:${i}`);
    service.db.put(keys.map((sk) => ({ ...kept, sk })));
    const lines = (await exported(id)).map((line) => JSON.parse(line));
    const found = lines.flatMap(({ type, data }) => (type === 'document' ? [data.document_key] : []));
    expect(found.sort()).toEqual(['kept', ...keys].sort());
  });

  it.each([
    ['a section of no export', { section: 'none' }],
    ['the log of a webhook of another project', { section: 'HOOK#whk_other#0', webhook: 'whk_other' }],
    ['a log of another webhook', { section: 'HOOK#whk_other#0' }],
  ])('does not continue at %s', async (_, after) => {
    const { id } = await service.project();
    const other = itemKey.log((await service.project()).id, 'whk_other');
    service.db.put([other]);
    await expect(administer({ operation: 'export', id, after })).rejects.toThrow('not one of this export');
  });

  it('continues after the last query of a page', async () => {
    const places: unknown[] = [];
    const { table } = memoryBackend({}, ({ name, input }) => {
      if (name !== 'Query') return undefined;
      places.push(input.ExclusiveStartKey);
      return { Items: [], LastEvaluatedKey: { pk: `${places.length}` } };
    });
    const first = await projectExport(table)('prj_1', undefined, 0);
    const queries = places.length;
    await projectExport(table)('prj_1', first.next, 0);
    expect(places.slice(queries - 1, queries + 1)).toEqual([{ pk: `${queries - 1}` }, { pk: `${queries}` }]);
  });
});

describe('a deletion', () => {
  it.each([undefined, 'Wrong'])('needs the name of the project, and not %s', async (name) => {
    const project = await used();
    await expect(remove(project.id, name)).rejects.toThrow('The name is not the name of the project');
    expect((await project.live('GET', '/v1/documents/d:1')).status).toBe(200);
  });

  it('revokes all credentials at the first call, and removes all items of the project and no others', async () => {
    const project = await used();
    const other = await used('Other');
    await service.settle();
    const kept = [...service.db.items()].filter(
      (item) => !itemsOf(project, project.hook.id, project.removed.id).includes(item),
    );
    expect(await remove(project.id, 'Acme')).toMatchObject({ state: 'deleting', deleted_at: null });
    expect((await project.live('GET', '/v1/documents/d:1')).status).toBe(401);
    await expect(administer({ operation: 'create-key', id: project.id })).rejects.toThrow();
    await service.clock.advance(SETTLE_MS);
    const record = await remove(project.id);
    expect(record).toMatchObject({ state: 'deleted', deleted_at: expect.any(String), waits_until: null });
    expect(itemsOf(project, project.hook.id, project.removed.id)).toMatchObject([{ pk: `DELETION#${project.id}` }]);
    const left = new Set(service.db.items());
    expect(kept.filter((item) => !left.has(item))).toEqual([]);
    expect((await other.live('GET', '/v1/documents/d:1')).status).toBe(200);
    await service.clock.advance(1000);
    expect(await administer({ operation: 'show', id: project.id })).toEqual(record);
    await expect(administer({ operation: 'resume', id: project.id })).rejects.toThrow('There is no project');
  });

  it.each([1, 3, 6, 12, 25])('continues after it ended at command %i', async (count) => {
    const project = await used();
    let commands = 0;
    service.faults.command = () => (++commands === count ? new Error('killed') : undefined);
    await expect(remove(project.id, 'Acme')).rejects.toThrow();
    service.faults.command = () => undefined;
    await remove(project.id, 'Acme');
    await service.clock.advance(SETTLE_MS);
    expect(await remove(project.id)).toMatchObject({ state: 'deleted' });
    expect(itemsOf(project, project.hook.id, project.removed.id)).toHaveLength(1);
  });
});

describe('the enabling of webhooks', () => {
  const at = (ms = service.clock.now()) => new Date(ms).toISOString();

  /** Calls until all pages are done. Returns the number of webhooks. */
  async function enable(window: object) {
    const pages = await pagesOf<{ webhooks: number }>({ operation: 'enable-webhooks', ...window });
    return pages.reduce((sum, { webhooks }) => sum + webhooks, 0);
  }

  it('enables and recovers those of all active projects that failed deliveries disabled in the window, once', async () => {
    const early = await disabled();
    await service.clock.advance(1000);
    const since = at();
    const found = [await disabled(), await disabled()];
    const paused = await used();
    await paused.live('PATCH', `/v1/webhooks/${paused.hook.id}`, { body: { status: 'disabled' } });
    await administer({ operation: 'suspend', id: (await disabled()).id });
    const until = at();
    await service.clock.advance(1000);
    const late = await disabled();

    expect(await enable({ since, until, dry_run: true })).toBe(2);
    expect(await found[0]?.webhook()).toMatchObject({ status: 'disabled' });
    service.log.length = 0;
    expect(await enable({ since, until })).toBe(2);
    const enabled = found.map(({ id, hook }) => ({ message: 'webhook.enabled', project_id: id, webhook_id: hook }));
    expect([...service.log].sort()).toEqual(enabled.map((line) => JSON.stringify(line)).sort());
    expect(await enable({ since, until })).toBe(0);
    for (const { webhook, admin, hook } of found) {
      expect(await webhook()).toMatchObject({ status: 'enabled', disabled_reason: null });
      const [entry] = (await admin('GET', '/v1/audit')).body.data;
      const detail = { environment: 'live', changed: ['status'], status: 'enabled' };
      expect(entry).toMatchObject({ action: 'webhook.changed', target: hook, actor: null, address: null, detail });
    }
    for (const { webhook } of [early, late]) expect(await webhook()).toMatchObject({ status: 'disabled' });
    const path = `/v1/webhooks/${paused.hook.id}`;
    expect((await paused.live('GET', path)).body).toMatchObject({ status: 'disabled', disabled_reason: 'paused' });
    await service.settle();
    for (const { delivery } of found) expect(await delivery()).toBe('succeeded');
  });

  it('can be limited to one project and one time', async () => {
    const [one, other] = [await disabled('test'), await disabled()];
    const { disabled_at: time } = await one.webhook();
    const only = { operation: 'enable-webhooks', since: time, until: time, id: one.id };
    expect(await administer(only)).toEqual({ webhooks: 1, next: null });
    expect([(await one.webhook()).status, (await other.webhook()).status]).toEqual(['enabled', 'disabled']);
    await service.clock.advance(9_000); // before the recovery starts
    expect(await one.delivery()).toBe('failed');
  });

  it('does not count a webhook that is deleted before it is enabled, and enables the others', async () => {
    const since = at();
    const { id, hook } = await disabled('live', 3);
    service.faults.command = (name) => {
      if (name !== 'SendMessageBatch') return undefined;
      const Key = itemKey.webhook({ projectId: id, environment: 'live' }, hook);
      service.db.execute({ name: 'Delete', input: { TableName: VARIABLES.TABLE_NAME, Key } });
      return undefined;
    };
    expect(await enable({ since, id })).toBe(2);
    service.faults.command = () => undefined;
  });

  it.each([
    1, 2, 3, 4, 5, 6, 7, 8,
  ])('recovers the deliveries if it is repeated after it ended at command %i', async (count) => {
    const since = at();
    const { id, delivery } = await disabled();
    let commands = 0;
    service.faults.command = () => (++commands === count ? new Error('killed') : undefined);
    await enable({ since, id }).catch(() => {});
    service.faults.command = () => undefined;
    await service.settle(); // the recovery of the first call is due
    await enable({ since, id });
    await service.settle();
    expect(await delivery()).toBe('succeeded');
  });
});

it.each<[unknown, string]>([
  [{}, 'operation'],
  [{ operation: 'suspend' }, 'id'],
  [{ operation: 'suspend', id: 'prj_none' }, 'There is no project'],
  [{ operation: 'create-key', id: 'prj_none' }, 'There is no project'],
  [{ operation: 'export', id: 'prj_none' }, 'There is no project'],
  [{ operation: 'list', limit: 1000 }, 'limit'],
  [{ operation: 'enable-webhooks' }, 'since'],
  [{ operation: 'enable-webhooks', since: 'noon' }, 'since'],
  [{ operation: 'enable-webhooks', since: '2026-01-31T12:00:00Z', id: 'prj_none' }, 'There is no project'],
])('rejects %j with a message', async (input, message) => {
  await expect(administer(input)).rejects.toThrow(message);
});
