import { describe, expect, it } from 'vitest';
import { operations } from '../../../lib/api/operations.ts';
import { sampleData } from '../../../lib/events/data.ts';
import { EVENT_TYPES, type EventType } from '../../../lib/events/types.ts';
import type { Operation } from '../../../lib/http/operation.ts';
import { listed } from '../../support/documents.ts';
import {
  newScene,
  type Performed,
  perform,
  performed,
  plainJson,
  type Scene,
  stateOf,
  withoutEffect,
} from './scene.ts';

/** Optional members whose `null` has its own meaning (interface §3.1, §4). */
const WITH_MEANING = ['rotateKey expires_at', 'changeWebhook description', 'changeWebhook max_per_second'];

type Entries = Readonly<Record<string, { type: string }>>;
const isOptional = ({ type }: { type: string }) => type === 'optional' || type === 'nullish';

const optionalMembers = performed.flatMap((id) => {
  const { body } = operations[id] as Operation;
  const { entries = {} } = (body ?? {}) as { entries?: Entries };
  return Object.keys(entries)
    .filter((name) => isOptional(entries[name] as { type: string }) && !WITH_MEANING.includes(`${id} ${name}`))
    .map((name) => ({ id, name }));
});

/** What a request with these members does to a new scene. */
async function effectOf(id: Performed, members: object) {
  const scene = await newScene(id);
  const { status, body } = await perform(scene, id, { members });
  return { status, body: plainJson(body), state: await stateOf(scene) };
}

describe('an optional member', () => {
  it.each(optionalMembers)('has no effect as null, as if it was absent: $id $name', async ({ id, name }) => {
    expect(await effectOf(id, { [name]: null })).toEqual(await effectOf(id, { [name]: undefined }));
  });

  it('is found in the bodies of most operations', () => {
    expect(new Set(optionalMembers.map(({ id }) => id)).size).toBeGreaterThan(10);
  });
});

/** The nullable members of the data of each type, which publishers can omit, and the optional ones, which they can write as `null`. */
const NULLABLE = /^(old_value|new_value|value|sync_id|pattern)$/;
const OPTIONAL: Partial<Record<EventType, readonly string[]>> = {
  'sync.completed': ['patterns', 'pushed', 'pulled', 'conflicts'],
  'connection.lost': ['document_key', 'user'],
};

describe.each(EVENT_TYPES)('the data of a published %s', (type) => {
  // The id of a completed cycle is never null.
  const isNullable = (name: string) => NULLABLE.test(name) && !(type === 'sync.completed' && name === 'sync_id');
  const withNulls = JSON.stringify(sampleData(type, Date.UTC(2026, 0, 31)), (name, value) =>
    isNullable(name) ? null : value,
  );
  const data = JSON.parse(withNulls);
  const omitted = JSON.parse(withNulls, (name, value) => (isNullable(name) ? undefined : value));
  const optional = OPTIONAL[type] ?? [];
  const without = (members: readonly string[]) =>
    Object.fromEntries(Object.entries(data).filter(([name]) => !members.includes(name)));
  const nulls = { ...data, ...Object.fromEntries(optional.map((name) => [name, null])) };

  const sorted = (value: unknown): string =>
    JSON.stringify(value, (_, each) =>
      each !== null && typeof each === 'object' && !Array.isArray(each)
        ? Object.fromEntries(Object.entries(each).sort(([a], [b]) => (a < b ? -1 : 1)))
        : each,
    );
  /** The data of the event in the response, in the store and in a delivery. */
  async function published(sent: object): Promise<string[]> {
    const { service, admin } = await newScene();
    const endpoint = service.endpoint();
    await admin('POST', '/v1/webhooks', { body: { url: endpoint.url, events: [type] } });
    const { body } = await admin('POST', '/v1/events', { body: { type, data: sent } });
    const batch = (await admin('POST', '/v1/events/batch', { body: { events: [{ type, data: sent }] } })).body.data[0];
    const stored = (await admin('GET', `/v1/events/${body.id}`)).body;
    await service.settle();
    const delivered = endpoint.received
      .map((request) => JSON.parse(String(request.body)))
      .filter(({ id }) => [body.id, batch.id].includes(id));
    return [body, batch, stored, ...delivered].map((event) => sorted(event.data));
  }

  it.each([
    ['a nullable member that is absent is null', omitted, data],
    ['an optional member that is null is absent', nulls, without(optional)],
  ])('are complete: %s', async (_, sent, expected) => {
    expect(await published(sent)).toEqual(Array(5).fill(sorted(expected)));
  });
});

/** The query parameters that can be repeated. */
const REPEATABLE = ['listEvents type', 'listDeliveries type', 'listDeliveries status'];
const parameters = performed.flatMap((id) => {
  const { callers, query } = operations[id] as Operation;
  const names = [...Object.keys(query), ...(callers === 'anyone' ? [] : ['environment']), 'unknown'];
  return names.filter((name) => !REPEATABLE.includes(`${id} ${name}`)).map((name) => ({ id, name }));
});

describe('a query parameter', () => {
  it.each(performed)('that is given twice is one violation and has no effect: %s', async (id) => {
    const scene = await newScene();
    for (const { name } of parameters.filter((each) => each.id === id))
      for (const [one, other] of [
        ['live', 'sandbox'],
        ['1', '1'],
      ]) {
        const send = () => perform(scene, id, { query: `?${name}=${one}&${name}=${other}` });
        const { status, body } = await withoutEffect(scene, send);
        const errors = [{ field: name, detail: 'is given more than once' }];
        expect([status, body.errors], name).toEqual([400, errors]);
      }
  });

  const listOf = async ({ admin }: Scene, path: string, query: string) =>
    (await listed(admin, `${path}?${query}`)).map(({ id, event_id }) => id ?? event_id);

  it.each([
    ['/v1/events', 'type', ['document.created', 'document.deleted', 'sync.completed']],
    ['/v1/webhooks/ID/deliveries', 'type', ['document.changed', 'document.deleted']],
    ['/v1/webhooks/ID/deliveries', 'status', ['failed', 'retrying', 'succeeded']],
  ])('%s?%s can be repeated and then lists the entries of each value', async (route, name, values) => {
    const scene = await newScene();
    const path = route.replace('ID', scene.webhook.id);
    const lists = await Promise.all(values.map((value) => listOf(scene, path, `${name}=${value}`)));
    const all = await listOf(scene, path, values.map((value) => `${name}=${value}`).join('&'));
    expect(all.toSorted()).toEqual(lists.flat().sort());
    expect(all.length).toBeGreaterThan(0);
    const reversed = values.toReversed().map((value) => `${name}=${value}`);
    expect(await listOf(scene, path, reversed.join('&'))).toEqual(all);
  });
});
