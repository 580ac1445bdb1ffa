import assert from 'node:assert/strict';
import { pagesOf } from '../client.ts';
import type { Check } from '../run.ts';
import { expectHeaders, expectProblem, expectStatus } from './expectations.ts';

export const documentChecks: Check[] = [
  {
    name: 'Documents: create, read, merge, delete',
    async run({ test, name }) {
      const path = `/v1/documents/${name}:lifecycle`;
      const created = await test('PUT', path, { body: { fields: { title: 'Draft', size: 1 } } });
      expectStatus(created, 201);
      const merged = await test('PATCH', path, { body: { fields: { size: 2 }, base_revision: 1 } });
      expectStatus(merged, 200);
      const { json } = await test('GET', path);
      const fields = JSON.stringify(json?.fields);
      assert.ok(fields === '{"title":"Draft","size":2}', `GET ${path}: fields are ${fields} after a merge`);
      assert.ok(json.revision === 2, `GET ${path}: revision ${json.revision} instead of 2`);
      expectStatus(await test('DELETE', path), 204);
      expectProblem(await test('GET', path), 'not_found');
    },
  },
  {
    name: 'Documents: ETags guard reads and writes',
    async run({ test, name }) {
      const path = `/v1/documents/${name}:etag`;
      const created = await test('PUT', path, { body: { fields: {} } });
      expectHeaders(created, { ETag: '"1"' });
      expectStatus(await test('GET', path, { headers: { 'If-None-Match': '"1"' } }), 304);
      const stale = { body: { fields: {} }, headers: { 'If-Match': '"7"' } };
      expectProblem(await test('PUT', path, stale), 'precondition_failed');
    },
  },
  {
    name: 'Lists: the pages contain every entry exactly once',
    async run({ test, name }) {
      const folder = `${name}:pages`;
      const keys = ['a', 'b', 'c', 'd', 'e'].map((key) => `${folder}:${key}`);
      for (const key of keys) expectStatus(await test('PUT', `/v1/documents/${key}`, { body: { fields: {} } }), 201);
      const listed: string[] = [];
      for await (const page of pagesOf(test, `/v1/documents?limit=2&prefix=${folder}`)) {
        expectStatus(page, 200);
        assert.ok(page.json.data.length <= 2, `${page.request}: ${page.json.data.length} entries with limit=2`);
        listed.push(...page.json.data.map(({ document_key }: { document_key: string }) => document_key));
      }
      assert.ok(
        listed.sort().join() === keys.join(),
        `GET /v1/documents: the pages contain ${listed.join(', ') || 'nothing'}`,
      );
    },
  },
  {
    name: 'Sync: applies pushes and returns differences',
    async run({ test, name }) {
      const folder = `${name}:sync`;
      const [mine, theirs] = [`${folder}:mine`, `${folder}:theirs`];
      expectStatus(await test('PUT', `/v1/documents/${theirs}`, { body: { fields: { title: 'Theirs' } } }), 201);
      const push = [{ op: 'put', document_key: mine, base_revision: 0, fields: { title: 'Mine' } }];
      const body = { node_id: name, pattern: `${folder}:*`, push, known: {} };
      const synced = await test('POST', '/v1/sync', { body });
      expectStatus(synced, 200);
      const { results, changes } = synced.json;
      assert.ok(results[0]?.status === 'applied', `${synced.request}: the push is ${results[0]?.status}`);
      const change = changes.find((each: { document_key: string }) => each.document_key === theirs);
      assert.ok(change?.fields?.title === 'Theirs', `${synced.request}: the changes are ${JSON.stringify(changes)}`);
    },
  },
  {
    name: 'Connections: open, renew, close',
    async run({ test, name }) {
      const path = `/v1/connections/${name}`;
      const body = { node_id: name, lease_seconds: 60 };
      const opened = await test('PUT', path, { body });
      expectStatus(opened, 200);
      const renewed = await test('PUT', path, { body });
      expectStatus(renewed, 200);
      const { connected_at } = renewed.json;
      assert.ok(
        connected_at === opened.json.connected_at,
        `${renewed.request}: the renewal opened a new connection at ${connected_at}`,
      );
      expectStatus(await test('DELETE', path), 204);
      expectProblem(await test('DELETE', path), 'not_found');
    },
  },
];
