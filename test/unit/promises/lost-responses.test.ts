import { describe, expect, it } from 'vitest';
import { operations } from '../../../lib/api/operations.ts';
import { isRepeatable } from '../../../lib/client/repeats.ts';
import { EMAIL_WINDOW_MS } from '../../../lib/emails/email-budget.ts';
import type { Answer, Client } from '../../support/service.ts';
import {
  bodyOf,
  type Changing,
  changing,
  newScene,
  perform,
  plainJson,
  prepare,
  type Scene,
  stateOf,
} from './scene.ts';

const DAY_MS = 24 * 60 * 60 * 1000;

/** A repetition changes nothing, even if another caller has changed the resource since. */
const HARMLESS = 'ends something that no caller can start again';

/**
 * The operations whose repetition is a new request, because the service stores no receipt of the first one, and the effect of the
 * new request. After an unknown outcome, a client must read the resource first. A new operation needs a key, or an entry here.
 */
const WITHOUT_RECEIPT: Readonly<Partial<Record<Changing, string>>> = {
  changeKey: 'sets the name again',
  setAllowlist: 'replaces the list again',
  changeProject: 'sets the members again',
  changeWebhook: 'sets the members again',
  renewConnection: 'opens the connection again',
  closeConnection: 'closes the connection that was opened since',
  renewEngine: 'opens the lease and the connections again',
  closeEngine: 'closes the lease that was opened since',
  sendTestEmail: 'can send another email',
  confirmEmail: 'removes the mark of a later report',
  sendConfirmation: 'can send another link',
  confirmAddress: 'confirms the address that was added again',
  stopRecovery: 'stops the recovery that was started since',
  deleteWebhook: HARMLESS,
  revokeKey: HARMLESS,
  revokeToken: HARMLESS,
};

/** The change of another caller after each operation without a receipt, by which its effect is visible. */
const LATER: Readonly<Partial<Record<Changing, (scene: Scene, other: Client) => Promise<unknown>>>> = {
  ...{ changeKey: same('changeKey'), setAllowlist: same('setAllowlist'), changeProject: same('changeProject') },
  ...{ changeWebhook: same('changeWebhook'), renewConnection: same('closeConnection') },
  closeConnection: same('renewConnection'),
  ...{ renewEngine: same('closeEngine'), closeEngine: same('renewEngine') },
  stopRecovery: (scene) => prepare(scene, ['stopRecovery']),
  sendTestEmail: async ({ service }) => service.clock.advance(60_000),
  sendConfirmation: async ({ service }) => service.clock.advance(DAY_MS),
  confirmAddress: async ({ unconfirmed }, other) => {
    for (const emails of [['works@example.com'], ['works@example.com', unconfirmed]])
      expect((await other('PATCH', '/v1/project', { body: { emails } })).status).toBe(200);
  },
  confirmEmail: async ({ service, projectId, email }) => {
    await service.clock.advance(EMAIL_WINDOW_MS); // it sends an email
    await service.stopEmails(projectId, email, 'complained');
  },
};

/** The change of another caller to what an operation has created. */
const CREATED: Readonly<Partial<Record<Changing, (answer: Answer, other: Client) => Promise<Answer>>>> = {
  createKey: ({ body }, other) => other('POST', `/v1/keys/${body.id}/revoke`),
  rotateKey: ({ body }, other) => other('POST', `/v1/keys/${body.id}/revoke`),
  createToken: ({ body }, other) => other('POST', `/v1/tokens/${body.token_id}/revoke`),
  createWebhook: ({ body }, other) => other('DELETE', `/v1/webhooks/${body.id}`),
};

function same(id: Changing) {
  return (scene: Scene, client: Client) => perform(scene, id, { client, n: 2 });
}

const headersOf = (id: Changing): Record<string, string> =>
  operations[id].idempotencyKey ? { 'Idempotency-Key': 'same' } : {};
const resourceOf = (id: Changing): string => operations[id].path.split('/')[2]?.replace('sync', 'documents') ?? '';
const hasReceipt = (id: Changing): boolean => WITHOUT_RECEIPT[id] === undefined;

/** A scene after a request and a later change by another caller. `repeated` sends the request again after that. */
async function sceneAfter(
  id: Changing,
  change: (scene: Scene, other: Client, first: Answer) => Promise<unknown>,
  repeated: boolean,
) {
  const scene = await newScene(id);
  const other = scene.service.as((await scene.admin('POST', '/v1/keys', { body: { type: 'admin' } })).body.key);
  const send = () => perform(scene, id, { headers: headersOf(id), n: 1 });
  const first = await send();
  expect(first.status).toBeLessThan(300);
  await change(scene, other, first);
  const again = repeated ? await send() : first;
  const project = await scene.admin('GET', '/v1/project'); // with the marks of its addresses
  return { first, again, state: [...(await stateOf(scene)), plainJson(project.body)] };
}

/** Requires that a repetition returns the first response and keeps the change of another caller. */
async function expectHarmless(id: Changing, change: Parameters<typeof sceneAfter>[1], label: string) {
  const { state: expected } = await sceneAfter(id, change, false);
  const { first, again, state } = await sceneAfter(id, change, true);
  expect(again.status, label).toBe(first.status);
  expect(state, label).toEqual(expected);
  if (id === 'sync') expect(again.body.results, label).toEqual(first.body.results);
  else expect(again.headers['idempotency-replayed'], label).toBe('true');
}

it('the typed client repeats exactly the operations with a receipt after an unknown outcome', async () => {
  const scene = await newScene();
  const repeated = changing.filter((id) => {
    const { method, path } = operations[id];
    return isRepeatable(method, path, bodyOf(scene, id));
  });
  expect(repeated).toEqual(changing.filter(hasReceipt));
});

describe('a request whose response is lost', () => {
  it.each(changing.filter(hasReceipt))('keeps a later change of another caller when it is repeated: %s', async (id) => {
    const later = changing.filter((other) => resourceOf(other) === resourceOf(id));
    for (const other of later)
      await expectHarmless(id, (scene, client) => perform(scene, other, { client, n: 2 }), other);
    const ofCreated = CREATED[id];
    if (!ofCreated) return;
    const change = async (_: Scene, client: Client, first: Answer) =>
      expect((await ofCreated(first, client)).status).toBeLessThan(300);
    await expectHarmless(id, change, 'what it created');
  });

  const without = Object.entries(WITHOUT_RECEIPT) as [Changing, string][];
  it.each(without)('is a new request when it is repeated without a receipt: %s %s', async (id, effect) => {
    const change = async (scene: Scene, other: Client) => LATER[id]?.(scene, other);
    const [{ state: before }, { state }] = [await sceneAfter(id, change, false), await sceneAfter(id, change, true)];
    if (effect === HARMLESS) expect(state).toEqual(before);
    else expect(state).not.toEqual(before);
  });
});
