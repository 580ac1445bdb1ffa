import { expect } from 'vitest';
import type { State } from '../../../../infra/local/services/state.ts';
import type { LocalStack } from '../../../../infra/local/stack.ts';
import { EVENT_TYPES } from '../../../../lib/events/types.ts';
import { changed } from '../../../support/changed.ts';
import type { TestReceiver } from '../../../support/receiver.ts';
import { type Answer, type Call, eventually, request } from '../../../support/service.ts';
import { waitingMessages } from './stored.ts';

/** The attempts of the slowest delivery. The last one follows a schedule, and the others follow messages with a delay. */
export const ATTEMPTS = 4;

/** What a client of one release still uses and expects under another release. Fixtures contain it as JSON. */
export interface Work {
  projectId: string;
  live: string;
  admin: string;
  token: string;
  webhooks: Record<keyof Endpoints, string>;
  /** An event that was published with an idempotency key, and the response. */
  published: { call: Call; body: { id: string } };
  /** An event that no function has read from the stream. */
  unread: string;
  /** An event that was skipped while its webhook was disabled, and that a recovery will deliver. */
  skipped: string;
  /** The second page of every list, by the path with its cursor. */
  pages: Record<string, string[]>;
}

/** The endpoints of the webhooks. `failing` rejects the first three attempts. */
export type Endpoints = Record<'healthy' | 'failing' | 'recovered', TestReceiver>;

/** Responses of an earlier release can lack members that the OpenAPI document requires today, so none is validated. */
const clientOf =
  ({ baseUrl }: LocalStack, credential: string) =>
  async (method: string, path: string, status: number, call: Call = {}): Promise<Answer> => {
    const headers = { Authorization: `Bearer ${credential}`, ...call.headers };
    const answer = await request(baseUrl, method, path, { ...call, headers });
    expect([answer.status, answer.text], `${method} ${path}`).toEqual([status, expect.anything()]);
    return answer;
  };
type Client = ReturnType<typeof clientOf>;

const received = ({ received }: TestReceiver, eventId: string) =>
  received.filter(({ headers }) => headers['x-service-event-id'] === eventId);

/** Waits for an attempt, and for the retry that follows it. */
async function untilRetried({ failing }: Endpoints, { id }: { id: string }, attempts: number, state: State) {
  await eventually(() => received(failing, id).length === attempts);
  const isNext = ({ eventId, attempt }: { eventId?: string; attempt?: number }) =>
    eventId === id && attempt === attempts + 1;
  await eventually(() => waitingMessages(state).some(({ message }) => isNext(message)));
}

/** Rejects all attempts but the last of an event. */
export function rejectFirstAttempts(eventId: string, { failing }: Endpoints): void {
  failing.behave((response, _, { headers }) => {
    const number = Number(headers['x-service-attempt']);
    response.writeHead(headers['x-service-event-id'] === eventId && number < ATTEMPTS ? 500 : 200).end();
  });
}

/** Begins work of every kind, and leaves each in the middle. */
export async function begin(stack: LocalStack, state: State, endpoints: Endpoints): Promise<Work> {
  const created = await stack.invoke('CreateProject', { name: 'Upgrade', email: 'upgrade@example.com' });
  const { project, admin_key } = created as { project: { id: string }; admin_key: { key: string } };
  const admin = clientOf(stack, admin_key.key);
  const { key } = (await admin('POST', '/v1/keys', 201, { body: { type: 'live' } })).body;
  const live = clientOf(stack, key);
  const token = await mint(live);
  const webhookOf = async ({ url }: TestReceiver, events: readonly string[], more = {}) =>
    (await live('POST', '/v1/webhooks', 201, { body: { url, events, ...more } })).body.id;
  const webhooks = {
    healthy: await webhookOf(endpoints.healthy, EVENT_TYPES, { headers: { 'X-Team': 'sync' }, max_per_second: 50 }),
    failing: await webhookOf(endpoints.failing, ['document.changed']),
    recovered: await webhookOf(endpoints.recovered, ['document.deleted']),
  };
  await live('PATCH', `/v1/webhooks/${webhooks.recovered}`, 200, { body: { status: 'disabled' } });
  await live('PUT', '/v1/documents/org:a', 201, { body: { fields: { title: 'a', body: '' } } });
  await live('PUT', '/v1/documents/org:b', 201, { body: { fields: { title: 'b' } } });
  await live('PUT', '/v1/documents/org:c', 201, { body: { fields: { title: 'c' } } });
  await live('DELETE', '/v1/documents/org:c', 204);
  const cycle = { node_id: 'node-1', pattern: 'org:*', push: [], known: {} };
  await live('POST', '/v1/sync', 200, { body: cycle });
  await live('PUT', '/v1/connections/tab-1', 200, { body: { node_id: 'node-1', lease_seconds: 900 } });
  const call = { body: changed(), headers: { 'Idempotency-Key': crypto.randomUUID() } };
  endpoints.failing.behave(500);
  const { body } = await live('POST', '/v1/events', 202, call);
  rejectFirstAttempts(body.id, endpoints);
  const skipped = await eventually(async () => {
    const path = `/v1/webhooks/${webhooks.recovered}/deliveries?status=skipped`;
    return (await live('GET', path, 200)).body.data[0]?.event_id as string | undefined;
  });
  await untilRetried(endpoints, body, 1, state);
  await eventually(() => received(endpoints.healthy, body.id).length > 0);
  const pages = await secondPages({ live, admin }, webhooks.healthy);
  // Starts a recovery of the webhook that was disabled.
  await live('POST', `/v1/webhooks/${webhooks.recovered}/recover`, 202, { body: { enable: true } });

  const mapping = stack.mappings.get('FanOutSource');
  if (!mapping) throw new Error('The template has no FanOutSource');
  mapping.Enabled = false;
  const unread = (await live('POST', '/v1/events', 202, { body: changed({ revision: 3 }) })).body.id;
  const ids = { projectId: project.id, live: key, admin: admin_key.key, token, webhooks };
  return { ...ids, published: { call, body }, unread, skipped, pages };
}

/** Creates a token for the next step. */
async function mint(live: Client): Promise<string> {
  const grant = { documents: ['org:*'], permissions: ['read', 'write'], ttl: 3600 };
  return (await live('POST', '/v1/tokens', 201, { body: grant })).body.token;
}

/** Reads the second page of each list. Later entries are newer and do not change it. */
async function secondPages({ live, admin }: Record<'live' | 'admin', Client>, webhookId: string) {
  const pages: Work['pages'] = {};
  for (const [path, client] of [
    ['/v1/events?', live],
    ['/v1/documents?prefix=org', live],
    [`/v1/webhooks/${webhookId}/deliveries?`, live],
    ['/v1/audit?', admin],
  ] as const) {
    const first = await client('GET', `${path}&limit=1`, 200);
    const next = `${path}&limit=1&cursor=${first.body.next_cursor}`;
    pages[next] = entriesOf(await client('GET', next, 200));
    expect(pages[next], path).toEqual([expect.any(String)]);
  }
  return pages;
}

const entriesOf = ({ body }: Answer): string[] =>
  body.data.map((entry: Record<string, string>) => entry.id ?? entry.event_id ?? entry.document_key);

/** Continues the work of another release: uses its credentials, cursors and idempotency keys, and waits for its deliveries. */
export async function proceed(stack: LocalStack, work: Work, endpoints: Endpoints): Promise<void> {
  const live = clientOf(stack, work.live);
  const admin = clientOf(stack, work.admin);
  const token = clientOf(stack, work.token);
  const { call, body } = work.published;
  const replayed = await live('POST', '/v1/events', 202, call);
  expect([replayed.body, replayed.headers['idempotency-replayed']]).toEqual([body, 'true']);
  for (const [path, entries] of Object.entries(work.pages)) {
    const client = path.startsWith('/v1/audit') ? admin : live;
    expect(entriesOf(await client('GET', path, 200)), path).toEqual(entries);
  }
  const document = (await token('GET', '/v1/documents/org:a', 200)).body;
  expect(document.fields).toMatchObject({ title: 'a' });
  const patch = { body: { fields: { body: stack.baseUrl } } };
  const { revision } = (await token('PATCH', '/v1/documents/org:a', 200, patch)).body;
  expect(revision).toBeGreaterThan(document.revision); // a restore starts a new epoch
  work.token = await mint(live);
  await eventually(() => received(endpoints.healthy, work.unread).length > 0);
  await eventually(() => received(endpoints.recovered, work.skipped).length > 0);
  await eventually(() =>
    endpoints.healthy.received.some(({ headers }) => headers['x-service-event-type'] === 'connection.lost'),
  );
}

/** Waits until the slowest delivery of the work has made one more attempt, and its retry is queued. */
export async function attemptAgain(work: Work, endpoints: Endpoints, attempts: number, state: State): Promise<void> {
  if (attempts < ATTEMPTS) await untilRetried(endpoints, work.published.body, attempts, state);
}

/** Waits for the end of all deliveries, and checks their records. The stats of a restored table can lack an attempt. */
export async function complete(stack: LocalStack, work: Work, { counted = ATTEMPTS - 1 } = {}): Promise<void> {
  const live = clientOf(stack, work.live);
  const record = async (webhookId: string, eventId: string) =>
    (await live('GET', `/v1/webhooks/${webhookId}/deliveries/${eventId}`, 200)).body;
  const { healthy, failing, recovered } = work.webhooks;
  const { id } = work.published.body;
  await eventually(async () => (await record(failing, id)).status === 'succeeded');
  const numbers = (await record(failing, id)).attempts.map(({ number }: { number: number }) => number);
  expect(numbers).toEqual(Array.from({ length: ATTEMPTS }, (_, i) => i + 1));
  for (const [webhook, event] of [
    [healthy, id],
    [healthy, work.unread],
    [failing, work.unread],
    [recovered, work.skipped],
  ] as const)
    await eventually(async () => (await record(webhook, event)).status === 'succeeded');
  await eventually(async () => {
    const { data } = (await live('GET', '/v1/stats?group_by=webhook_id', 200)).body;
    const stats = data.find(({ webhook_id }: { webhook_id: string }) => webhook_id === failing);
    return stats?.attempts_failed >= counted && stats.delivered > 0;
  });
}
