import { describe, expect, it } from 'vitest';
import { operations } from '../../../lib/api/operations.ts';
import { firstMessage } from '../../../lib/deliveries/messages.ts';
import { pageMessage, RECOVERY_DELAY_SECONDS } from '../../../lib/deliveries/recovery-record.ts';
import { EMAIL_WINDOW_MS } from '../../../lib/emails/email-budget.ts';
import { MAX_WEBHOOKS } from '../../../lib/webhooks/webhook.ts';
import { queueRecord } from '../../support/entries.ts';
import type { Answer } from '../../support/service.ts';
import { type Act, everyInterleaving } from './interleavings.ts';
import { type Changing, changing, newScene, perform, type Scene, scenesOf, stateOf } from './scene.ts';

type Acts = readonly [Act, Act];
type Prepare = () => Promise<Scene>;
const outcomeOf = ({ status, body }: Answer) => `${status} ${body?.code ?? ''}`;
const textOf = (outcomes: readonly string[], state: readonly string[]) => JSON.stringify([outcomes, state], null, 1);

/** The same for a person, who then reads which member of which item differs. */
function parsed(text = '[]') {
  const [outcomes, state = []] = JSON.parse(text) as [string[], string[]?];
  return { outcomes, state: state.map((item) => (item.startsWith('[') ? JSON.parse(item) : item)) };
}

/** The lines of a text that another text does not have. */
function distance(text: string, other: string): number {
  const lines = new Set(text.split('\n'));
  return other.split('\n').filter((line) => !lines.has(line)).length;
}

/** The responses and the state after some of the requests, one after another. The others are rejected and change nothing. */
async function serially(acts: Acts, order: readonly number[], rejection: string, prepare: Prepare): Promise<string> {
  const scene = await prepare();
  const outcomes = acts.map(() => rejection);
  for (const i of order) outcomes[i] = outcomeOf(await (acts[i] as Act)(scene));
  return textOf(outcomes, await stateOf(scene));
}

const LIMITED = '429 too_many_requests'; // emails of a project
/** The problems of a request that lost a race, changed nothing, and says so. A 503 does not count, because the service tries again. */
const REJECTIONS = ['409 conflict', '409 idempotency_in_progress', LIMITED];

async function expectSerializable(acts: Acts, prepare: Prepare = newScene, rejections = REJECTIONS): Promise<void> {
  const allowed = [await serially(acts, [0, 1], '', prepare), await serially(acts, [1, 0], '', prepare)];
  const rejected = () =>
    Promise.all(rejections.flatMap((rejection) => [0, 1].map((i) => serially(acts, [i], rejection, prepare))));
  let withRejection: string[] | undefined;
  await everyInterleaving(prepare, acts, async (answers, scene) => {
    const outcome = textOf(answers.map(outcomeOf), await stateOf(scene));
    if (allowed.includes(outcome)) return;
    withRejection ??= await rejected();
    if (withRejection.includes(outcome)) return;
    const closest = [...allowed, ...withRejection].toSorted((a, b) => distance(a, outcome) - distance(b, outcome))[0];
    expect(parsed(outcome)).toEqual(parsed(closest));
  });
}

/** The kind of resource that an operation changes. Operations on different resources do not depend on each other. */
function resourceOf(id: Changing): string {
  const [, , collection = '', resource] = operations[id].path.split('/');
  return ['project', 'email-confirmations'].includes(collection) ? 'project' : `${collection}/${resource}`;
}
const of =
  (id: Changing, n = 0, headers: Record<string, string> = {}): Act =>
  (scene) =>
    perform(scene, id, { headers, n });

const pairs = changing.flatMap((a, i) =>
  changing.slice(i).flatMap((b) => (a === b || resourceOf(a) === resourceOf(b) ? [[a, b] as const] : [])),
);

/** The act of a function that consumes an event, and fails for no part of it. */
const consuming =
  (name: string, eventOf: (scene: Scene) => object): Act =>
  async (scene) => {
    expect((await scene.service.consume(name, eventOf(scene))) ?? NOTHING_FAILED).toEqual(NOTHING_FAILED);
    return { status: 200, headers: {}, text: '', body: undefined };
  };
const NOTHING_FAILED = { batchItemFailures: [] };
const messageOf = (body: object) => ({ Records: [queueRecord('message', JSON.stringify(body))] });

/** An attempt of another run of the delivery that disabled the webhook. */
const attempting = (attempt: number): Act =>
  consuming('deliver slow', ({ projectId, webhook, eventId }) => {
    const run = { run: 1, trigger: 'redelivery' } as const;
    return messageOf({ ...firstMessage({ projectId, environment: 'live' }, webhook.id, eventId, run), attempt });
  });

const setting =
  (body: object): Act =>
  ({ admin, webhook }) =>
    admin('PATCH', `/v1/webhooks/${webhook.id}`, { body });

describe('a consumer and a concurrent request', () => {
  const sceneAfter =
    (prepare: (scene: Scene) => unknown, ...ids: Changing[]) =>
    async () => {
      const scene = await newScene(...ids);
      await prepare(scene);
      return scene;
    };

  // Redeliveries and attempts in flight continue after a pause or a sixth failure, so these pairs are not serializable.
  const ALL: Changing[] = ['changeWebhook', 'rotateSecret', 'deleteWebhook', 'redeliver', 'recover'];
  it.each<[string, number, number, Changing[]]>([
    ['succeeds', 1, 200, ALL],
    ['fails', 1, 500, ALL],
    ['disables the webhook', 6, 500, ['changeWebhook', 'rotateSecret']],
  ])('have the effect of one after the other: an attempt that %s', async (_, attempt, status, requests) => {
    const prepare = sceneAfter((scene) => setting({ url: scene.service.endpoint(status).url })(scene));
    for (const request of [setting({ max_per_second: 5 }), ...requests.map((id) => of(id))])
      await expectSerializable([attempting(attempt), request], prepare);
  });

  it('have the effect of one after the other: a page of a recovery', async () => {
    const page = consuming('deliver quick', ({ projectId, recovering, service }) => {
      const { id: recoveryId = '' } =
        [...service.db.items()].find(({ pk }) => pk === `RECOVERY#${recovering.id}`) ?? {};
      const webhook = { projectId, environment: 'live', id: recovering.id } as const;
      return messageOf(pageMessage(webhook, { id: String(recoveryId), page: 0 }));
    });
    const prepare = sceneAfter(({ service }) => service.clock.skip(RECOVERY_DELAY_SECONDS * 1000), 'stopRecovery');
    const ofRecovering =
      (method: string, path: string, body?: object): Act =>
      ({ admin, recovering }) =>
        admin(method, `/v1/webhooks/${recovering.id}${path}`, body && { body });
    // A page in progress continues after a stop, so this pair is not serializable.
    const requests = [
      ofRecovering('POST', '/recover', {}),
      ofRecovering('PATCH', '', { description: 'New' }),
      ofRecovering('POST', '/rotate-secret', {}),
    ];
    for (const request of requests) await expectSerializable([page, request], prepare);
  });

  it.each([10, 900])('have the effect of one after the other: a check after %i seconds', async (seconds) => {
    const check = consuming('check-connection', ({ projectId }) =>
      messageOf({ connectionId: 'phone', projectId, environment: 'live' }),
    );
    const prepare = sceneAfter(({ service }) => service.clock.skip(seconds * 1000), 'renewConnection');
    for (const id of ['renewConnection', 'closeConnection'] as const)
      await expectSerializable([check, of(id)], prepare);
  });

  it.each([
    10, 900,
  ])('have the effect of one after the other: a check of an engine after %i seconds', async (seconds) => {
    const check = consuming('check-connection', ({ projectId, service }) => {
      const [lease] = [...service.db.items()].filter(({ sk }) => sk === 'engine');
      return messageOf({ engineId: 'engine', session: lease?.session, projectId, environment: 'live' });
    });
    const prepare = sceneAfter(({ service }) => service.clock.skip(seconds * 1000), 'renewEngine');
    for (const id of ['renewEngine', 'closeEngine'] as const) await expectSerializable([check, of(id)], prepare);
  });

  it('have the effect of one after the other: a report about an address', async () => {
    const reporting = (emailAddress: string) =>
      consuming('email-events', ({ projectId }) => ({
        detail: { mail: { tags: { project: [projectId] } }, complaint: { complainedRecipients: [{ emailAddress }] } },
      }));
    const report = reporting('works@example.com');
    for (const id of ['changeProject', 'confirmEmail', 'sendTestEmail', 'confirmAddress'] as const)
      await expectSerializable([report, of(id)]);
    const emails = ['works@example.com', 'other@example.com', 'third@example.com'];
    const prepare = sceneAfter(({ admin }) => admin('PATCH', '/v1/project', { body: { emails } }));
    for (const other of [report, reporting('other@example.com')]) await expectSerializable([report, other], prepare);
  });

  it('have the effect of one after the other: a summary', async () => {
    const summary = consuming('email-events', ({ projectId, service }) => {
      const { checkAt } = [...service.db.items()].find(({ pk }) => pk === `EMAILS#${projectId}`) ?? {};
      return messageOf({ projectId, checkAt });
    });
    const prepare = sceneAfter(async (scene) => {
      for (let n = 0; n < 6; n++) await perform(scene, 'createKey', { n });
      scene.service.clock.skip(EMAIL_WINDOW_MS);
    });
    for (const id of ['createKey', 'changeProject', 'sendTestEmail', 'sendConfirmation', 'confirmAddress'] as const)
      await expectSerializable([summary, of(id, 7)], prepare);
  });
});

describe('two concurrent requests', () => {
  it.each(pairs)('have the effect of one after the other: %s and %s', async (a, b) => {
    // Two redeliveries of a delivery can start one run, and both are accepted.
    const merged = a === 'redeliver' && b === 'redeliver' ? ['202 '] : [];
    await expectSerializable([of(a, 1), of(b, 2)], () => newScene(a, b), [...REJECTIONS, ...merged]);
  });

  const creating = changing.filter((id) => operations[id].idempotencyKey);
  it.each(creating)('with one idempotency key have the effect of one: %s', async (id) => {
    const act = of(id, 1, { 'Idempotency-Key': 'same' });
    await expectSerializable([act, act]);
  });

  it.each(changing)('that are equal are both accepted if they are one after the other: %s', async (id) => {
    const acts: Acts = [of(id, 1), of(id, 1)];
    const prepare = () => newScene(id);
    const [[first, second]] = JSON.parse(await serially(acts, [0, 1], '', prepare));
    const accepted = second === first ? [first, LIMITED] : [first, second, ...REJECTIONS];
    await everyInterleaving(prepare, acts, (answers) => {
      for (const answer of answers) expect(accepted).toContain(outcomeOf(answer));
    });
  });

  const conditional = ['putDocument', 'patchDocument', 'deleteDocument'] as const;
  const preconditions = conditional.flatMap((a, i) => conditional.slice(i).map((b) => [a, b] as const));
  it.each(preconditions)('with one If-Match change a document once: %s and %s', async (a, b) => {
    const headers = { 'If-Match': '"1"' };
    await expectSerializable([of(a, 1, headers), of(b, 2, headers)]);
  });

  it('with If-None-Match create a document once', async () => {
    const create =
      (n: number): Act =>
      ({ admin }) =>
        admin('PUT', '/v1/documents/new', { body: { fields: { n } }, headers: { 'If-None-Match': '*' } });
    await expectSerializable([create(1), create(2)]);
  });

  const ofOne =
    (method: string): Act =>
    (scene) =>
      scene.admin(method, `/v1/webhooks/${scene.webhook.id}/recover`, method === 'POST' ? { body: {} } : {});
  it('start and stop a recovery of a webhook one after the other', () =>
    expectSerializable([ofOne('POST'), ofOne('DELETE')]));

  it('create only the last webhook within the limit', async () => {
    const full = scenesOf(async () => {
      const scene = await newScene();
      for (let i = 3; i < MAX_WEBHOOKS; i++) expect((await perform(scene, 'createWebhook')).status).toBe(201);
      return scene;
    });
    await expectSerializable([of('createWebhook', 1), of('createWebhook', 2)], full);
  });

  it.each([
    ['revoke', undefined],
    ['rotate', { expires_at: '2026-03-01T00:00:00Z' }],
    ['allowlist', { cidrs: ['192.0.2.1'] }],
  ])('leave an admin key without an expiry for the address of the caller: %s', async (action, body) => {
    const end =
      (of: (scene: Scene) => string): Act =>
      (scene) =>
        scene.admin('POST', `/v1/keys/${of(scene)}/${action}`, body ? { body } : {});
    await expectSerializable([end(({ adminKey }) => adminKey), end(({ second }) => second.key)]);
  });
});
