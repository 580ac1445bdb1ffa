import { randomUUID } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { operations } from '../../../lib/api/operations.ts';
import { type Changing, changing, newScene, perform, stateOf } from './scene.ts';

const WRITES = ['Put', 'Update', 'Delete', 'TransactWrite'];

/** The operations with an idempotency key, and the secrets of their responses. */
const SECRETS: Readonly<Partial<Record<Changing, readonly string[]>>> = {
  ...{ createKey: ['key'], rotateKey: ['key'], createToken: ['token'], createDashboardLink: ['url'] },
  ...{ createWebhook: ['secret'], rotateSecret: ['secret'] },
  ...{ testWebhook: [], redeliver: [], recover: [], publishEvent: [], publishEvents: [] },
  ...{ putDocument: [], patchDocument: [], deleteDocument: [] },
};

/** Performs a request twice and the work after it, while the response to the first try of one write is lost. Returns the effects. */
async function run(id: Changing, lost: number) {
  const scene = await newScene(id);
  let writes = 0;
  scene.service.faults.aroundAll = async ({ name, input }, act) => {
    if (!WRITES.includes(name) || writes++ !== lost) return act();
    if (name === 'TransactWrite') input.ClientRequestToken ??= randomUUID(); // the SDK sends one token with all tries
    await act().catch(() => {});
    return act();
  };
  const secrets = SECRETS[id];
  const headers: Record<string, string> = secrets ? { 'Idempotency-Key': 'same' } : {};
  const [first, again] = [await perform(scene, id, { headers }), await perform(scene, id, { headers })];
  const answers = [first, again];
  if (secrets) {
    const hidden = Object.fromEntries(secrets.map((name) => [name, null]));
    expect(again.body).toEqual(first.body && { ...first.body, ...hidden });
    expect([first, again].map(({ headers }) => headers['idempotency-replayed'])).toEqual([undefined, 'true']);
    expect(again.headers.location).toBe(first.headers.location);
    const stored = JSON.stringify(
      [...scene.service.db.items()].filter(({ pk }) => String(pk).startsWith('IDEMPOTENCY#')),
    );
    for (const name of secrets) expect(stored).not.toContain(first.body[name]);
  }
  const outcomes = answers.map(({ status, body, headers }) => [status, body?.code, headers['idempotency-replayed']]);
  const state = await stateOf(scene); // after all work
  return { writes, outcomes, state };
}

it('knows the operations with an idempotency key', () => {
  expect(Object.keys(SECRETS).sort()).toEqual(changing.filter((id) => operations[id].idempotencyKey).sort());
});

describe('a write with a lost response, which the SDK repeats', () => {
  it.each(changing)('makes no difference: %s', async (id) => {
    const { writes, ...clean } = await run(id, -1);
    expect(writes).toBeGreaterThan(0);
    for (let lost = 0; lost < writes; lost++)
      expect(await run(id, lost), `write ${lost}`).toEqual({ writes, ...clean });
  });
});

const COMMANDS = ['Get', 'Query', ...WRITES, 'SendMessageBatch', 'SendEmail'];

describe('a request during which AWS throttles calls', () => {
  it.each(changing)('is accepted, or can be sent again later: %s', async (id) => {
    for (const command of COMMANDS) {
      const scene = await newScene(id);
      const throttled = { name: command === 'SendEmail' ? 'Throttling' : 'ThrottlingException', $metadata: {} };
      scene.service.faults.around = ({ name }, act) =>
        name === command ? Promise.reject(Object.assign(new Error('Rate exceeded'), throttled)) : act();
      const { status, headers } = await perform(scene, id);
      if (status >= 300) expect([status, headers['retry-after']], command).toEqual([503, '1']);
    }
  });
});
