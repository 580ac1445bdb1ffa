import { beforeAll, describe, expect, it } from 'vitest';
import { code, mint, put, sync } from '../../support/documents.ts';
import { memoryService } from '../../support/memory-service.ts';
import type { Client } from '../../support/service.ts';

const service = memoryService();
let owner: Client;
let writer: Client;

beforeAll(async () => {
  owner = await (await service.project()).client('live');
  writer = service.as(await mint(owner, ['sec:*'], ['write'], 600));
});

const SECRET = { secret: 'TOPSECRET', salary: 987_654_321 };
const secretOf = (text: string) => /TOPSECRET|salary|987654321/.exec(text)?.[0];

/** The name of a node, which any client can send. */
const node = { 'X-Node-Id': 'node-1' };

/** Creates a document with secrets that its owner has changed since revision 1. */
async function documentWithSecrets(): Promise<string> {
  const key = `sec:${crypto.randomUUID()}`;
  await put(owner, key, { title: 'Draft' });
  await put(owner, key, { title: 'Final', ...SECRET }, node);
  return key;
}

describe('a token with only write permission', () => {
  it('receives only the fields of its own request', async () => {
    const key = await documentWithSecrets();
    const patch = (body: object) => writer('PATCH', `/v1/documents/${key}`, { body });
    const untouched = await patch({ fields: {} });
    expect(untouched).toMatchObject({ status: 200, body: { document_key: key, revision: 2, fields: {} } });
    const changed = await patch({ fields: { mine: false, empty: '', title: null } });
    expect(changed.body).toMatchObject({ revision: 3, conflicts: [] });
    expect(changed.body.fields).toEqual({ mine: false, empty: '' });
    const replaced = await put(writer, key, { all: 'new' });
    expect(replaced.body).toMatchObject({ revision: 4, fields: { all: 'new' } });
    for (const { text } of [untouched, changed, replaced]) expect(secretOf(text)).toBeUndefined();
  });

  it('receives only conflicts about its own fields, without the values of other writers', async () => {
    for (const on_conflict of ['last_write_wins', 'keep_server']) {
      for (const headers of [{}, node]) {
        const key = await documentWithSecrets();
        const body = { fields: { secret: 'guess' }, base_revision: 1, on_conflict };
        const answer = await writer('PATCH', `/v1/documents/${key}`, { body, headers });
        expect(answer.body.conflicts).toHaveLength(1);
        expect(answer.body.fields).toEqual({ secret: 'guess' });
        const [conflict] = answer.body.conflicts;
        expect([conflict.winner.value, conflict.loser.value].sort()).toEqual(['guess', undefined]);
        expect(secretOf(answer.text)).toBeUndefined();
      }
    }
    const key = await documentWithSecrets();
    const body = { fields: { secret: 'guess' }, base_revision: 1, on_conflict: 'reject' };
    const refused = await writer('PATCH', `/v1/documents/${key}`, { body });
    expect(code(refused)).toEqual([409, 'conflict']);
    expect(secretOf(refused.text)).toBeUndefined();
  });

  it('receives nothing else from a sync with any pushes', async () => {
    for (const op of ['put', 'patch', 'delete']) {
      for (const on_conflict of ['last_write_wins', 'keep_server', 'reject']) {
        const document_key = await documentWithSecrets();
        const fields = op === 'delete' ? {} : { fields: { secret: 'guess' } };
        const push = [{ op, document_key, base_revision: 1, on_conflict, ...fields }];
        const answer = await sync(writer, { pattern: 'sec:*', push });
        expect(answer.status).toBe(200);
        expect(answer.body.changes).toEqual([]);
        expect(secretOf(answer.text), `${op} ${on_conflict}`).toBeUndefined();
      }
    }
  });

  it('receives everything with read permission', async () => {
    const key = await documentWithSecrets();
    const both = service.as(await mint(owner, ['sec:*'], ['read', 'write']));
    const answer = await both('PATCH', `/v1/documents/${key}`, { body: { fields: { mine: 1 } } });
    expect(answer.body.fields).toEqual({ title: 'Final', ...SECRET, mine: 1 });
    const body = { fields: { secret: 'guess' }, base_revision: 1 };
    const [conflict] = (await both('PATCH', `/v1/documents/${key}`, { body })).body.conflicts;
    expect([conflict.winner.value, conflict.loser.value]).toEqual(['guess', 'TOPSECRET']);
    const push = [{ op: 'patch', document_key: key, fields: { secret: 'later' }, base_revision: 1 }];
    const [result] = (await sync(both, { pattern: 'sec:*', push })).body.results;
    expect(result.conflicts).toMatchObject([{ winner: { value: 'later' }, loser: { value: 'guess' } }]);
    const rejected = await both('PATCH', `/v1/documents/${key}`, {
      body: { ...body, fields: { secret: 'other', title: 'Other' }, on_conflict: 'reject' },
    });
    expect(rejected.body.detail).toMatch(/changed since base_revision: secret, title\.$/);
  });
});

it('sync cycles of credentials without write claim no name and publish no event', async () => {
  const { admin: _, ...project } = await service.project();
  const [live, readKey] = [await project.client('live'), await project.client('read')];
  const completed = async () => (await live('GET', '/v1/events?type=sync.completed')).body.data.length;
  const cycle = { sync_id: 'nightly-1' };
  for (const client of [readKey, service.as(await mint(live, ['*'], ['read']))])
    expect((await sync(client, cycle)).body.has_more).toBe(false);
  expect(await completed()).toBe(0);
  expect((await sync(live, cycle)).status).toBe(200);
  await sync(service.as(await mint(live, ['*'], ['write'])), {
    push: [{ op: 'put', document_key: 'd', base_revision: 0, fields: {} }],
  });
  expect(await completed()).toBe(2);
});
