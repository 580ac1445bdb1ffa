import assert from 'node:assert/strict';
import type { Check, Run } from '../run.ts';
import { expectProblem, expectStatus } from './expectations.ts';

/** A documentation block (RFC 5737), which no client uses. */
const ADDRESS_OF_NOBODY = '192.0.2.1/32';
const LIST = '/v1/documents?limit=1';

export const accessChecks: Check[] = [
  {
    name: 'Keys: both keys work after a rotation',
    async run({ as, admin, createKey }) {
      const old = await createKey();
      const rotated = await admin('POST', `/v1/keys/${old.id}/rotate`);
      expectStatus(rotated, 201);
      assert.ok(rotated.json.replaces === old.id, `${rotated.request}: replaces ${rotated.json.replaces}`);
      for (const key of [old.key, rotated.json.key]) expectStatus(await as(key)('GET', LIST), 200);
    },
  },
  {
    name: 'Keys: a revoked key stops working immediately',
    async run({ as, admin, createKey }) {
      const { id, key } = await createKey();
      expectStatus(await as(key)('GET', LIST), 200);
      expectStatus(await admin('POST', `/v1/keys/${id}/revoke`), 200);
      const after = await as(key)('GET', LIST);
      assert.ok(
        after.status !== 200,
        `${after.request}: the key still works. This is expected for authorizerCacheSeconds`,
      );
      expectProblem(after, 'unauthorized');
    },
  },
  {
    name: 'Keys: an allowlist allows only its addresses',
    async run({ as, admin, createKey }) {
      const { id, key } = await createKey();
      const allow = async (cidrs: string[]) =>
        expectStatus(await admin('POST', `/v1/keys/${id}/allowlist`, { body: { cidrs } }), 200);
      await allow([ADDRESS_OF_NOBODY]);
      expectProblem(await as(key)('GET', LIST), 'ip_not_allowed');
      await allow(['0.0.0.0/0', '::/0']);
      expectStatus(await as(key)('GET', LIST), 200);
    },
  },
  {
    name: 'Tokens: can read matching documents',
    async run(run) {
      const { token, inside } = await createToken(run);
      expectStatus(await run.as(token)('GET', `/v1/documents/${inside}`), 200);
    },
  },
  {
    name: 'Tokens: cannot read other documents',
    async run(run) {
      const { token, outside } = await createToken(run);
      expectProblem(await run.as(token)('GET', `/v1/documents/${outside}`), 'document_not_allowed');
    },
  },
  {
    name: 'Tokens: cannot write without the permission',
    async run(run) {
      const { token, inside } = await createToken(run);
      const body = { fields: {} };
      expectProblem(await run.as(token)('PUT', `/v1/documents/${inside}`, { body }), 'insufficient_permissions');
    },
  },
  {
    name: 'Idempotency: a repeated request returns the first response',
    async run({ test, name }) {
      const change = { field: 'title', old_value: 'Draft', new_value: 'Final', origin: name };
      const body = { type: 'document.changed', data: { document_key: name, revision: 2, changes: [change] } };
      const call = { body, headers: { 'Idempotency-Key': crypto.randomUUID() } };
      const first = await test('POST', '/v1/events', call);
      expectStatus(first, 202);
      const again = await test('POST', '/v1/events', call);
      assert.ok(again.text === first.text, `${again.request}: the second response is ${again.status} ${again.text}`);
      assert.ok(again.headers['idempotency-replayed'] === 'true', `${again.request}: Idempotency-Replayed is missing`);
    },
  },
];

/** Creates a token that can read one of two documents for a minute. */
async function createToken({ test, name }: Run): Promise<{ token: string; inside: string; outside: string }> {
  const folder = `${name}:${crypto.randomUUID()}`;
  const [inside, outside] = [`${folder}:inside:a`, `${folder}:outside:a`];
  for (const key of [inside, outside]) {
    expectStatus(await test('PUT', `/v1/documents/${key}`, { body: { fields: { title: 'Draft' } } }), 201);
  }
  const body = { documents: [`${folder}:inside:*`], permissions: ['read'], ttl: 60 };
  const created = await test('POST', '/v1/tokens', { body });
  expectStatus(created, 201);
  return { token: created.json.token, inside, outside };
}
