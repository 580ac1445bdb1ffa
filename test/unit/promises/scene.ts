import { expect } from 'vitest';
import { type OperationId, operations } from '../../../lib/api/operations.ts';
import { EMAIL_WINDOW_MS } from '../../../lib/emails/email-budget.ts';
import { openLink } from '../../support/documents.ts';
import { memoryService, tokensIn } from '../../support/memory-service.ts';
import type { Answer, Client } from '../../support/service.ts';

const DAY_MS = 24 * 60 * 60 * 1000;

/** A project with everything that an operation can change. */
export type Scene = Awaited<ReturnType<typeof buildScene>>;

async function buildScene() {
  const service = memoryService();
  const { admin, id: projectId, adminKey } = await service.project();
  const create = async (path: string, body: object) => (await admin('POST', path, { body })).body;
  const [email, unconfirmed] = ['bounced@example.com', 'new@example.com'];
  await admin('PATCH', '/v1/project', { body: { emails: ['works@example.com', email] } });
  await service.confirmAddresses(projectId);
  await admin('PATCH', '/v1/project', { body: { emails: ['works@example.com', email, unconfirmed] } });
  const [confirmation = ''] = service.emails.flatMap(tokensIn).slice(-1);
  await service.clock.advance(DAY_MS); // the address can be asked again
  const endpoint = service.endpoint(500);
  const events = ['document.changed'];
  const webhook = await create('/v1/webhooks', { url: endpoint.url, events, documents: ['w:*'] });
  const recovering = await create('/v1/webhooks', { url: service.endpoint().url, events: ['document.deleted'] });
  await admin('PATCH', `/v1/webhooks/${recovering.id}`, { body: { status: 'disabled' } });
  const deleted = { document_key: 'gone', revision: 2, origin: 'n' };
  await create('/v1/events', { type: 'document.deleted', data: deleted });
  const second = await create('/v1/keys', { type: 'admin', name: 'Second' });
  const live = await create('/v1/keys', { type: 'live', name: 'Live' });
  await admin('PUT', '/v1/documents/doc', { body: { fields: { a: 1 } } });
  const event = await create('/v1/events', { type: 'document.changed', data: { ...CHANGE, document_key: 'w:1' } });
  await service.settle();
  await service.clock.advance(EMAIL_WINDOW_MS); // all emails can be sent again
  await admin('PATCH', `/v1/webhooks/${webhook.id}`, { body: { status: 'enabled' } });
  await admin('PATCH', `/v1/webhooks/${recovering.id}`, { body: { status: 'enabled' } });
  const newToken = () => create('/v1/tokens', { documents: ['*'], permissions: ['read'], ttl: 600 });
  const [token, otherToken] = [await newToken(), await newToken()];
  const session = await openLink(admin, { role: 'editor', user: 'Ann' });
  await service.stopEmails(projectId, email, 'bounced');
  const adminKeyId = `key_${adminKey.split('_')[2]?.slice(0, 12)}`;
  return {
    service,
    admin,
    projectId,
    adminKey,
    adminKeyId,
    webhook,
    /** A webhook with a delivery to recover. */
    recovering,
    second,
    live,
    token,
    otherToken,
    /** An editor's session of a dashboard link. */
    session,
    email,
    unconfirmed,
    confirmation,
    eventId: event.id as string,
  };
}

/**
 * The work that must be pending before a request has an effect. A scene has no other pending work, because each run of a test would
 * repeat it.
 */
const PREPARATIONS: Readonly<Partial<Record<Performed, (scene: Scene) => Promise<unknown>>>> = {
  renewConnection: openConnection,
  closeConnection: openConnection,
  renewEngine: openEngine,
  closeEngine: openEngine,
  stopRecovery: startRecovery,
};

function openConnection({ admin }: Scene) {
  return admin('PUT', '/v1/connections/phone', { body: { node_id: 'n', lease_seconds: 900 } });
}
function openEngine({ admin }: Scene) {
  const opened = [{ id: 'socket', node_id: 'n' }];
  return admin('PUT', '/v1/engines/engine', { body: { lease_seconds: 900, opened } });
}
function startRecovery({ admin, recovering }: Scene) {
  return admin('POST', `/v1/webhooks/${recovering.id}/recover`, { body: { since: '2020-01-01T00:00:00Z' } });
}

/** Prepares a scene for requests of operations. The checks of the leases and the recovery are pending. */
export async function prepare(scene: Scene, ids: readonly Performed[]): Promise<void> {
  const preparations = new Set(ids.flatMap((id) => PREPARATIONS[id] ?? []));
  for (const each of preparations) await each(scene);
}

/** The operations for which a scene has pending work of each kind. */
export const PENDING = ['renewConnection', 'renewEngine', 'stopRecovery'] as const satisfies Performed[];

/**
 * Returns a function that creates equal scenes, prepared for requests of operations. Each run of a test needs a new scene, and a
 * copy takes less time than its requests.
 */
export function scenesOf(
  build: () => Promise<Scene>,
  variables: Readonly<Record<string, string>> = {},
): (...ids: readonly Performed[]) => Promise<Scene> {
  let built: Promise<readonly [Scene, Awaited<ReturnType<Scene['service']['snapshot']>>]> | undefined;
  return async (...ids) => {
    built ??= build().then(async (scene) => [scene, await scene.service.snapshot()] as const);
    const [original, from] = await built;
    const service = memoryService({ from, variables });
    service.log.push(...original.service.log);
    const scene = { ...original, service, admin: service.as(original.adminKey) };
    await prepare(scene, ids);
    return scene;
  };
}

export const newScene = scenesOf(buildScene);

/** The variables of a service whose projects have a budget of deliveries per minute. */
export const variablesOf = (perMinute: number) => ({ DELIVERIES_PER_SECOND: String(perMinute / 60) });

/** A scene of such a service. */
export const newSceneWithBudget = (perMinute: number) => scenesOf(buildScene, variablesOf(perMinute));

/** A text that only contents of requests contain. */
export const CONTENT = 'content-of-a-request';
const CHANGE = { revision: 2, changes: [{ field: 'a', old_value: 1, new_value: CONTENT, origin: 'n' }] };
const published = (document_key: string) => ({ type: 'document.changed', data: { ...CHANGE, document_key } });

type RequestOf = (scene: Scene, n: number) => [path: string, body?: object];

/** A request of each operation that changes something, different for each `n`. A new operation needs an entry. */
const changes = {
  createKey: (_, n) => ['/v1/keys', { type: 'admin', name: `New ${n}` }],
  changeKey: ({ live }, n) => [`/v1/keys/${live.id}`, { name: `Renamed ${n}` }],
  rotateKey: ({ second }) => [`/v1/keys/${second.id}/rotate`, {}],
  revokeKey: ({ second }) => [`/v1/keys/${second.id}/revoke`],
  setAllowlist: ({ second }, n) => [`/v1/keys/${second.id}/allowlist`, { cidrs: [`192.0.2.${n}/32`] }],
  createToken: () => ['/v1/tokens', { documents: ['a:*'], permissions: ['read'], ttl: 60 }],
  createDashboardLink: (_, n) => ['/v1/dashboard-links', { role: 'editor', user: `user-${n}` }],
  revokeToken: ({ token, otherToken }, n) => [`/v1/tokens/${(n === 2 ? otherToken : token).token_id}/revoke`],
  changeProject: (_, n) => ['/v1/project', { name: `Renamed ${n}`, emails: [`new-${n}@example.com`] }],
  sendTestEmail: () => ['/v1/project/test-mail'],
  confirmEmail: ({ email }) => ['/v1/project/confirm-email', { email }],
  sendConfirmation: ({ unconfirmed }) => ['/v1/project/send-confirmation', { email: unconfirmed }],
  createWebhook: () => ['/v1/webhooks', { url: 'https://example.com/', events: ['sync.completed'] }],
  changeWebhook: ({ webhook }, n) => [`/v1/webhooks/${webhook.id}`, { description: `New ${n}` }],
  deleteWebhook: ({ webhook }) => [`/v1/webhooks/${webhook.id}`],
  rotateSecret: ({ webhook }) => [`/v1/webhooks/${webhook.id}/rotate-secret`, {}],
  testWebhook: ({ webhook }) => [`/v1/webhooks/${webhook.id}/test`, {}],
  redeliver: ({ webhook, eventId }) => [`/v1/webhooks/${webhook.id}/deliveries/${eventId}/redeliver`],
  recover: ({ webhook }) => [`/v1/webhooks/${webhook.id}/recover`, { enable: true, since: '2020-01-01T00:00:00Z' }],
  stopRecovery: ({ recovering }) => [`/v1/webhooks/${recovering.id}/recover`],
  publishEvent: () => ['/v1/events', published('w:2')],
  publishEvents: () => ['/v1/events/batch', { events: [published('w:3'), published('w:4')] }],
  putDocument: (_, n) => ['/v1/documents/doc', { fields: { a: `${CONTENT} ${n}` } }],
  patchDocument: (_, n) => ['/v1/documents/doc', { fields: { [`b${n}`]: CONTENT }, base_revision: 1 }],
  deleteDocument: () => ['/v1/documents/doc'],
  sync: (_, n) => [
    '/v1/sync',
    {
      node_id: 'n',
      sync_id: `cycle-${n}`,
      pattern: '*',
      known: {},
      push: [{ op: 'patch', document_key: 'doc', fields: { [`c${n}`]: CONTENT }, base_revision: 1 }],
    },
  ],
  renewConnection: () => ['/v1/connections/phone', { node_id: 'n', lease_seconds: 60 }],
  closeConnection: () => ['/v1/connections/phone'],
  renewEngine: (_, n) => [
    '/v1/engines/engine',
    {
      lease_seconds: 60,
      opened: [{ id: `socket-${n}`, node_id: CONTENT, document_key: 'w:9' }],
      closed: [{ id: 'socket', lost: true }],
    },
  ],
  closeEngine: () => ['/v1/engines/engine'],
} as const satisfies Partial<Record<OperationId, RequestOf>>;

/** A request of each operation for anyone that changes something. */
const open = {
  confirmAddress: ({ confirmation }) => ['/v1/email-confirmations', { token: confirmation }],
} as const satisfies Partial<Record<OperationId, RequestOf>>;

/** A request of each other operation of the API. */
const reads = {
  listKeys: () => ['/v1/keys'],
  getKey: ({ second }) => [`/v1/keys/${second.id}`],
  getKeyUsage: ({ second }) => [`/v1/keys/${second.id}/usage`],
  getAllowlist: ({ second }) => [`/v1/keys/${second.id}/allowlist`],
  listTokenKeys: () => ['/v1/tokens/keys'],
  verifyToken: ({ token }) => ['/v1/tokens/verify', { token: token.token }],
  getProject: () => ['/v1/project'],
  listAudit: () => ['/v1/audit'],
  listWebhooks: () => ['/v1/webhooks'],
  getWebhook: ({ webhook }) => [`/v1/webhooks/${webhook.id}`],
  listDeliveries: ({ webhook }) => [`/v1/webhooks/${webhook.id}/deliveries`],
  getDelivery: ({ webhook, eventId }) => [`/v1/webhooks/${webhook.id}/deliveries/${eventId}`],
  getRecovery: ({ webhook }) => [`/v1/webhooks/${webhook.id}/recover`],
  listEvents: () => ['/v1/events'],
  getEvent: ({ eventId }) => [`/v1/events/${eventId}`],
  listEventDeliveries: ({ eventId }) => [`/v1/events/${eventId}/deliveries`],
  getStats: () => ['/v1/stats'],
  listDocuments: () => ['/v1/documents'],
  getDocument: () => ['/v1/documents/doc'],
} as const satisfies Partial<Record<OperationId, RequestOf>>;

export type Changing = keyof typeof changes | keyof typeof open;
export type Protected = keyof typeof changes | keyof typeof reads;
/** An operation with a request. */
export type Performed = Changing | Protected;
const requests: Readonly<Record<Performed, RequestOf>> = { ...changes, ...open, ...reads };

export const changing = Object.keys({ ...changes, ...open }) as Changing[];
export const reading = Object.keys(reads) as (keyof typeof reads)[];
export const performed = Object.keys(requests) as Performed[];
/** Those that need a credential. */
export const protectedOperations = Object.keys({ ...changes, ...reads }) as Protected[];

interface Options {
  headers?: Record<string, string>;
  n?: number;
  client?: Client;
  /** Members of the body, in addition to those of the scene or instead of them. */
  members?: object;
  query?: string;
}

/** The body of a request of an operation. */
export function bodyOf(scene: Scene, id: Performed, { n = 0, members }: Options = {}): object | undefined {
  const [, given] = requests[id](scene, n);
  return members || given ? { ...given, ...members } : undefined;
}

/** Sends a request of an operation, by default with the admin key. */
export function perform(
  scene: Scene,
  id: Performed,
  { headers = {}, n = 0, client = scene.admin, members, query = '' }: Options = {},
): Promise<Answer> {
  const [path] = requests[id](scene, n);
  const body = bodyOf(scene, id, { n, members });
  return client(operations[id].method, path + query, { headers, ...(body && { body }) });
}

/** The stored items, apart from the use of keys. */
const storedIn = ({ service }: Scene): string[] =>
  [...service.db.items()].map(({ writeId: _, lastUsedAt: __, activeHours: ___, lastRejected: ____, ...item }) =>
    JSON.stringify(item),
  );

/** Sends a request, and requires that it changes nothing. */
export async function withoutEffect(scene: Scene, send: () => Promise<Answer>): Promise<Answer> {
  const before = storedIn(scene);
  const answer = await send();
  const after = storedIn(scene);
  expect(after.filter((item) => !before.includes(item))).toEqual([]);
  expect(after).toHaveLength(before.length);
  return answer;
}

/** Members with random values, and those about the use of a key, the order of changes and repeated pages. */
const VOLATILE =
  /^(writeId|hash|hint|secret_hint|token|tokenSecret|publicKey|x|cursorSecret|secret|secrets|activeHours|lastUsedAt|lastRejected|nonce|position_\w+|page|checkpoint|session|changeId)$/;
/** The headers of an attempt contain a signature. The same member of a recovery is a number. */
const isVolatile = (name: string, value: unknown): boolean =>
  VOLATILE.test(name) || (name === 'sent' && typeof value !== 'number');
const ID =
  /eyJ[\w-]+(?:\.[\w-]+){2}|\b(prj|key|evt|whk|aud|tok|syn|rec)_[A-Za-z0-9]+(?:\.[\w-]{40,})?|svc_\w+|whsec_[\w+/=]+|[0-9a-f]{8}-[0-9a-f-]{27}/g;
const TIME = /\d{4}-\d\d-\d\dT[\d:.]+Z/g;
const PARTITION = /(#(?:failed|canceled|skipped|retrying|pending))#\w+/g;

const plain = (text: string) => text.replace(ID, '$1').replace(TIME, 'time').replace(PARTITION, '$1');
/** The JSON of a value without random and time. */
export const plainJson = (value: unknown): string =>
  plain(
    JSON.stringify(value, (name, each) =>
      isVolatile(name, each) ? undefined : typeof each === 'number' && each > 1e9 ? 'time' : each,
    ) ?? '',
  );

/** The state of a project after all its work, without random values and times. */
export async function stateOf({ service }: Scene): Promise<string[]> {
  await service.settle();
  const items = [...service.db.items()].filter(
    ({ pk }) => !/^(IDEMPOTENCY|EMAILS|SLOTS|FIGURES|VERSION)#/.test(String(pk)),
  );
  const texts = items.map(({ pk, sk, ...item }) => {
    const members = Object.fromEntries(Object.entries(item).sort()); // their order depends on that of the writes
    const kind = String(pk).split('#')[0];
    const place = kind === 'CHANGES' ? String(sk).replace(/^\w+/, 'time') : sk; // starts with the time of the change
    return plainJson([kind, place, members]);
  });
  const changes = texts.filter((text) => text.startsWith('["CHANGES"'));
  const others = texts.filter((text) => !changes.includes(text));
  const emails = service.emails.map(({ subject }) => plain(subject));
  return [...new Set(changes), ...others, ...emails].sort(); // concurrent changes of a document can have one entry
}
