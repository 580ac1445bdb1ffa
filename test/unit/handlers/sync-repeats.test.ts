import { beforeEach, describe, expect, it } from 'vitest';
import { CYCLE_MS } from '../../../lib/documents/cycle.ts';
import { code, get, listed, mint, put, sync } from '../../support/documents.ts';
import { memoryService } from '../../support/memory-service.ts';
import type { Answer, Client } from '../../support/service.ts';

const service = memoryService();
let laptop: Client;
let phone: Client;

beforeEach(async () => {
  laptop = await (await service.project()).client('live');
  phone = laptop;
});

const push = (client: Client, node_id: string, change: object, cycle: object = {}) =>
  sync(client, { node_id, push: [{ document_key: 'd', ...change }], ...cycle });
const fromPhone = (change: object) => push(phone, 'phone', change);
const conflictsOf = async () => (await listed(laptop, '/v1/events?type=sync.conflict')).length;

/** A push of the laptop whose response is lost, and a change of the phone after it. */
interface Case {
  before?: object;
  lost: object;
  after: object;
}

const edited = { base_revision: 1, fields: { s: 'review' } };
const CASES: Record<string, Case> = {
  'a patch': { lost: { op: 'patch', ...edited }, after: { op: 'patch', base_revision: 2, fields: { s: 'published' } } },
  'a put': { lost: { op: 'put', ...edited }, after: { op: 'put', base_revision: 2, fields: { s: 'published' } } },
  'a delete, before the document is created again': {
    lost: { op: 'delete', base_revision: 1 },
    after: { op: 'put', base_revision: 2, fields: { s: 'new' } },
  },
  'a creation, before the document is deleted': {
    before: { op: 'delete', base_revision: 1 },
    lost: { op: 'put', base_revision: 2, fields: { s: 'created' } },
    after: { op: 'delete', base_revision: 3 },
  },
  'a patch with keep_server': {
    lost: { op: 'patch', on_conflict: 'keep_server', ...edited },
    after: { op: 'patch', base_revision: 2, fields: { s: 'published' } },
  },
  'a patch with reject': {
    lost: { op: 'patch', on_conflict: 'reject', ...edited },
    after: { op: 'patch', base_revision: 2, fields: { s: 'published' } },
  },
  'a push that had a conflict': {
    before: { op: 'patch', base_revision: 1, fields: { s: 'theirs' } },
    lost: { op: 'patch', ...edited },
    after: { op: 'patch', base_revision: 3, fields: { s: 'published' } },
  },
  'a push that was rejected': {
    before: { op: 'patch', base_revision: 1, fields: { s: 'theirs' } },
    lost: { op: 'patch', on_conflict: 'reject', ...edited },
    after: { op: 'patch', base_revision: 2, fields: { s: 'review' } },
  },
  'a push that changed nothing': {
    lost: { op: 'patch', base_revision: 1, fields: { s: 'draft' } },
    after: { op: 'patch', base_revision: 1, fields: { s: 'published' } },
  },
};

/** How the request with the push is identified when it is repeated. */
const REQUESTS: Record<string, () => Promise<object>> = {
  'its first page': async () => ({ sync_id: 'cycle' }),
  'a later page': async () => ({ cursor: (await sync(laptop, { node_id: 'laptop', limit: 1 })).body.cursor }),
  'a later page of a cycle with a name': async () => {
    const { cursor } = (await sync(laptop, { node_id: 'laptop', limit: 1, sync_id: 'cycle' })).body;
    return { sync_id: 'cycle', cursor };
  },
};

describe.each(Object.entries(REQUESTS))('a repeated cycle, by %s', (_, requestOf) => {
  it.each(Object.entries(CASES))('returns the first result of %s, and changes nothing', async (__, of) => {
    const { before, lost, after } = of;
    await put(laptop, 'd', { s: 'draft' });
    for (const other of ['e', 'f']) await put(laptop, other, {}); // for a second page
    if (before) await fromPhone(before);
    const cycle = await requestOf();
    const first = await push(laptop, 'laptop', lost, cycle);
    expect(first.body.results).toHaveLength(1);
    expect((await fromPhone(after)).body.results).toMatchObject([{ status: 'applied' }]);
    const [document, conflicts] = [await get(laptop, 'd'), await conflictsOf()];
    const { status, body } = await push(laptop, 'laptop', lost, cycle);
    expect([status, body.results]).toEqual([200, first.body.results]);
    const { request_id: _, ...now } = await get(laptop, 'd');
    const { request_id: ___, ...expected } = document;
    expect(now).toEqual(expected);
    expect(await conflictsOf()).toBe(conflicts);
  });
});

describe('a push of a cycle', () => {
  const create = { op: 'put', base_revision: 0, fields: { n: 1 } };
  const cycle = { sync_id: 'cycle' };

  it('takes effect once if several functions receive it at the same time', async () => {
    for (const change of [create, { op: 'put', base_revision: 0, fields: { n: 1 }, on_conflict: 'reject' }]) {
      const sync_id = `at-once-${crypto.randomUUID()}`;
      const sent = Array.from({ length: 5 }, () => push(laptop, 'laptop', change, { sync_id }));
      const [first, ...others] = (await Promise.all(sent)).map(({ body }) => body.results);
      for (const other of others) expect(other).toEqual(first);
    }
    expect(await get(laptop, 'd')).toMatchObject({ revision: 1, fields: { n: 1 } });
    expect(await listed(laptop, '/v1/events?type=document.created')).toHaveLength(1);
  });

  it('returns 409 if another push has the result at its position, also of a request at the same time', async () => {
    const other = { ...create, fields: { n: 2 } };
    await push(laptop, 'laptop', create, cycle);
    const spelled = '{"fields":{"n":1},"base_revision":0,"op":"put","document_key":"d"}';
    const body = `{"node_id":"laptop","pattern":"*","sync_id":"cycle","push":[${spelled}]}`;
    expect((await laptop('POST', '/v1/sync', { body })).body.results).toMatchObject([{ revision: 1 }]);
    for (const changed of [other, { ...create, on_conflict: 'reject' }, { ...create, document_key: 'e' }])
      expect(code(await push(laptop, 'laptop', changed, cycle))).toEqual([409, 'conflict']);
    const race = await Promise.all(
      [1, 2].map((n) => push(laptop, 'laptop', { ...create, fields: { n } }, { sync_id: 'race' })),
    );
    expect(race.map(({ status }) => status).sort()).toEqual([200, 409]);
    expect((await get(laptop, 'd')).revision).toBeLessThanOrEqual(2);
  });

  it('is applied by a repeat if only the pushes before it have a result', async () => {
    const keys = ['a', 'b', 'c'];
    const pushes = keys.map((document_key) => ({ ...create, document_key }));
    service.faults.command = (name, input) =>
      name === 'TransactWrite' && JSON.stringify(input).includes('"b"') ? new Error('broken') : undefined;
    const statuses = ({ body }: Answer) => body.results.map(({ status }: { status: string }) => status);
    expect(statuses(await sync(laptop, { ...cycle, push: pushes }))).toEqual(['applied', 'rejected', 'applied']);
    service.faults.command = undefined;
    const changed = pushes.map((each, i) => (i === 2 ? { ...each, fields: {} } : each));
    expect(code(await sync(laptop, { ...cycle, push: changed }))).toEqual([409, 'conflict']);
    expect(await get(laptop, 'b')).toMatchObject({ code: 'not_found' }); // nothing was applied before the 409
    await put(phone, 'a', { n: 2 });
    expect(statuses(await sync(laptop, { ...cycle, push: pushes }))).toEqual(['applied', 'applied', 'applied']);
    expect(await get(laptop, 'a')).toMatchObject({ fields: { n: 2 } });
  });

  it('is rejected with the whole request a day after the first use of the name, also on a later page', async () => {
    for (const key of ['e', 'f']) await put(laptop, key, {});
    const named = { sync_id: 'day', limit: 1 };
    const first = (await push(laptop, 'laptop', create, named)).body;
    const { cursor } = first;
    await service.clock.advance(CYCLE_MS / 2);
    const restarted = (await push(laptop, 'laptop', create, named)).body;
    expect(restarted.results).toEqual(first.results);
    await service.clock.advance(CYCLE_MS / 2);
    expect(code(await push(laptop, 'laptop', create, named))).toEqual([409, 'conflict']);
    for (const page of [cursor, restarted.cursor]) {
      expect(code(await push(laptop, 'laptop', create, { ...named, cursor: page }))).toEqual([409, 'conflict']);
      expect((await sync(laptop, { node_id: 'laptop', ...named, cursor: page })).status).toBe(200);
    }
    expect(await get(laptop, 'd')).toMatchObject({ revision: 1 });
  });

  it('shows its stored result to a token without read only as far as the token can see', async () => {
    const both = service.as(await mint(laptop, ['*'], ['read', 'write'], 600, 'ada'));
    const writer = service.as(await mint(laptop, ['*'], ['write'], 600, 'ada'));
    await put(laptop, 'd', { s: 'draft', other: 'draft' });
    await put(laptop, 'd', { s: 'SECRET', other: 'SECRET' }, { 'X-Node-Id': 'phone' });
    for (const on_conflict of ['keep_server', 'reject', 'last_write_wins']) {
      const change = { op: 'put', base_revision: 1, fields: { s: on_conflict }, on_conflict };
      const sync_id = `shown-${on_conflict}`;
      const [full] = (await push(both, 'laptop', change, { sync_id })).body.results;
      expect(JSON.stringify(full.conflicts)).toContain('SECRET');
      const { text, body } = await push(writer, 'laptop', change, { sync_id });
      expect(text).not.toMatch(/SECRET|other/);
      expect(body.results).toMatchObject([{ status: full.status, revision: full.revision }]);
    }
  });
});
