import { beforeEach, describe, expect, it } from 'vitest';
import { code, mint, put, sync } from '../../support/documents.ts';
import { memoryService } from '../../support/memory-service.ts';
import type { Client } from '../../support/service.ts';

const service = memoryService();
let laptop: Client;

beforeEach(async () => {
  laptop = await (await service.project()).client('live');
});

describe('a token that replaces another one', () => {
  const tokenOf = async (user?: string, key = laptop) =>
    service.as(await mint(key, ['*'], ['read', 'write'], 600, user));
  const changes = [{ op: 'put', document_key: 'd', base_revision: 0, fields: {} }];

  it('continues and repeats the cycle of the same user and node, and receives its results', async () => {
    for (const key of ['a', 'b', 'c']) await put(laptop, key, {});
    const cycle = { sync_id: 'hourly', limit: 2, push: changes };
    const { results, cursor } = (await sync(await tokenOf('ada'), cycle)).body;
    expect((await sync(await tokenOf('ada'), cycle)).body.results).toEqual(results);
    const rest = (await sync(await tokenOf('ada'), { sync_id: 'hourly', cursor })).body.changes;
    expect(rest.map(({ document_key }: { document_key: string }) => document_key)).toEqual(['c', 'd']);
  });

  it('gets 409 for the cycle, and 400 for the cursor, of another user, node or key', async () => {
    const project = await service.project();
    [laptop] = [await project.client('live')];
    for (const key of ['a', 'b']) await put(laptop, key, {});
    const cycle = { sync_id: 'hourly', limit: 1, push: changes };
    const { cursor } = (await sync(await tokenOf('ada'), cycle)).body;
    const others: [Client, object][] = [
      [await tokenOf('bob'), {}],
      [await tokenOf(), {}],
      [await tokenOf('ada', await project.client('live')), {}],
      [laptop, {}],
      [await tokenOf('ada'), { node_id: 'other' }],
    ];
    for (const [client, of] of others) {
      expect(code(await sync(client, { ...cycle, ...of }))).toEqual([409, 'conflict']);
      expect(code(await sync(client, { ...cycle, ...of, cursor }))).toEqual([400, 'invalid_cursor']);
    }
  });
});
