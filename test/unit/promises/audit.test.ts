import { describe, expect, it } from 'vitest';
import { operations } from '../../../lib/api/operations.ts';
import { ROLES } from '../../../lib/credentials.ts';
import { isFor } from '../../../lib/http/route.ts';
import { canceled, code, listed, openLink } from '../../support/documents.ts';
import type { Client } from '../../support/service.ts';
import { type Changing, changing, newScene, perform, type Scene, withoutEffect } from './scene.ts';

type Entry = [action: string, target: string, detail: object];

const environment = 'live';
/** The audit entry of each operation that has one. `id` is the member of its response. */
const ENTRIES: Readonly<Partial<Record<Changing, (scene: Scene, id: string) => Entry>>> = {
  createKey: (_, id) => ['key.created', id, { type: 'admin', name: 'New 7', expires_at: null }],
  changeKey: ({ live }) => ['key.changed', live.id, { name: 'Renamed 7' }],
  rotateKey: ({ second }, id) => ['key.rotated', second.id, { replaced_by: id, expires_at: expect.any(String) }],
  revokeKey: ({ second }) => ['key.revoked', second.id, {}],
  setAllowlist: ({ second }) => ['key.allowlist_set', second.id, { cidrs: ['192.0.2.7/32'] }],
  revokeToken: ({ token, adminKeyId }) => ['token.revoked', token.token_id, { key: adminKeyId }],
  changeProject: ({ projectId }) => [
    'project.changed',
    projectId,
    { name: 'Renamed 7', emails: ['new-7@example.com'] },
  ],
  sendTestEmail: ({ projectId }) => ['project.test_email_sent', projectId, {}],
  confirmEmail: ({ projectId, email }) => ['project.email_confirmed', projectId, { email }],
  sendConfirmation: ({ projectId, unconfirmed }) => [
    'project.confirmation_requested',
    projectId,
    { email: unconfirmed },
  ],
  confirmAddress: ({ projectId, unconfirmed }) => ['project.email_confirmed', projectId, { email: unconfirmed }],
  createWebhook: (_, id) => ['webhook.created', id, { environment, events: ['sync.completed'] }],
  changeWebhook: ({ webhook }) => ['webhook.changed', webhook.id, { environment, changed: ['description'] }],
  deleteWebhook: ({ webhook }) => ['webhook.deleted', webhook.id, { environment }],
  rotateSecret: ({ webhook }) => ['webhook.secret_rotated', webhook.id, { environment }],
  recover: ({ webhook }) => [
    'webhook.changed',
    webhook.id,
    { environment, changed: ['status'], status: 'enabled' }, // the webhook is paused below
  ],
};

const from = '127.0.0.7';
const fromThere =
  (client: Client): Client =>
  (method, path, call) =>
    client(method, path, { ...call, from, headers: { ...call?.headers, 'X-Forwarded-For': '192.0.2.7' } });

describe('the audit log', () => {
  /** Performs an operation and returns the response, the entries that it added, and the expected one. */
  async function entriesOf(id: Changing, scene: Scene, client: Client) {
    const { admin, webhook } = scene;
    if (id === 'recover') await admin('PATCH', `/v1/webhooks/${webhook.id}`, { body: { status: 'disabled' } });
    const before = await listed(admin, '/v1/audit');
    const { body } = await perform(scene, id, { n: 7, client: fromThere(client) });
    const at = new Date(scene.service.clock.now()).toISOString();
    const added = (await listed(admin, '/v1/audit')).slice(0, -before.length);
    const [action, target, detail] = ENTRIES[id]?.(scene, body?.id) ?? [];
    const actor = operations[id].callers === 'anyone' ? null : scene.adminKeyId;
    const own = { id: expect.any(String), at, actor, address: from, link: null };
    return { body, added, expected: action ? [{ ...own, action, target, detail }] : [] };
  }

  it.each(changing)('has the entry of %s with its actor and address, and without secrets', async (id) => {
    const scene = await newScene(id);
    const { admin, adminKey, second, live, token, session, webhook } = scene;
    const { body, added, expected } = await entriesOf(id, scene, admin);
    expect(added).toEqual(expected);
    const secrets = [adminKey, second.key, live.key, token.token, session, webhook.secret, body?.key, body?.secret];
    for (const secret of secrets) if (secret) expect(JSON.stringify(added)).not.toContain(secret);
  });

  const ofCredential = changing.filter((id) => operations[id].callers !== 'anyone');
  it.each(ofCredential)('names the key and the user of the dashboard link that made the change: %s', async (id) => {
    for (const role of ROLES)
      for (const [given, user] of [[{ user: 'Ann' }, 'Ann'] as const, [{}, null] as const]) {
        const scene = await newScene(id);
        const client = scene.service.as(await openLink(scene.admin, { role, ...given }));
        const { added, expected } = await entriesOf(id, scene, client);
        expect(added, role).toEqual(
          isFor(operations[id], role) ? expected.map((entry) => ({ ...entry, link: { user } })) : [],
        );
      }
  });
});

/** The operations that send a notice, and its subject. A test email is the effect itself, so the request fails with it. */
const NOTICES: Readonly<Partial<Record<Changing, string>>> = {
  createKey: 'Admin key created',
  rotateKey: 'Admin key rotated',
  changeProject: 'Notification addresses changed',
};
/** The addresses that an operation asks for a confirmation. */
const ASKED: Readonly<Partial<Record<Changing, string>>> = {
  changeProject: 'new-0@example.com',
  sendConfirmation: 'new@example.com',
};
const TESTS: readonly Changing[] = ['sendTestEmail', 'confirmEmail'];

describe('the email of an operation', () => {
  it.each(
    changing.filter((id) => !TESTS.includes(id)),
  )('goes to the addresses before it, and the operation works without it: %s', async (id) => {
    const [expected, asked] = [NOTICES[id], ASKED[id]];
    const { service, ...scene } = await newScene(id);
    const before = service.emails.length;
    expect((await perform({ service, ...scene }, id, { client: fromThere(scene.admin) })).status).toBeLessThan(300);
    const sent = service.emails.slice(before).map(({ to, subject, text }) => [to, subject, text.includes(from)]);
    expect(sent).toEqual([
      ...(asked ? [[[asked], `Confirm this address (${scene.projectId})`, false]] : []),
      ...(expected ? [[['works@example.com'], `${expected} (${scene.projectId})`, true]] : []),
    ]);

    const other = await newScene(id);
    other.service.faults.email = new Error('SES is down');
    const { status, headers } = await perform(other, id);
    expect(status).toBeLessThan(300);
    const ids = { request_id: headers['x-request-id'], project_id: other.projectId };
    const reported = [
      ...(asked ? [{ message: 'confirmation.not_sent', project_id: other.projectId }] : []),
      ...(expected ? [{ message: 'notice.not_sent', ...ids, notice: expected }] : []),
    ];
    const lines = other.service.log.filter((line) => line.includes('not_sent')).map((line) => JSON.parse(line));
    expect(lines).toEqual(reported);

    // A new address cannot be used before its email, so its change needs a reservation.
    const busy = await newScene(id);
    busy.service.faults.command = (name, input) =>
      name === 'Put' && JSON.stringify(input).includes('EMAILS#') ? canceled('ConditionalCheckFailed') : undefined;
    const outcome = asked ? code(await withoutEffect(busy, () => perform(busy, id))) : (await perform(busy, id)).status;
    expect(outcome).toEqual(asked ? [503, 'unavailable'] : expect.toSatisfy((one: number) => one < 300));
    expect(busy.service.failures).toEqual([]);

    const reservations = [expected, asked].filter(Boolean).length;
    for (let failing = reservations + 1; failing <= 2 * reservations; failing++) {
      const unconfirmed = await newScene(id);
      let writes = 0;
      unconfirmed.service.faults.command = (name, input) =>
        name === 'Put' && JSON.stringify(input).includes('EMAILS#') && ++writes === failing
          ? new Error('outage')
          : undefined;
      expect((await perform(unconfirmed, id)).status).toBeLessThan(300);
      expect([unconfirmed.service.failures, writes]).toEqual([[], 2 * reservations]);
    }
  });

  it.each(TESTS)('counts for the limit even if it fails: %s', async (id) => {
    const scene = await newScene(id);
    scene.service.faults.email = new Error('SES is down');
    expect((await perform(scene, id)).status).toBe(500);
    delete scene.service.faults.email;
    expect((await perform(scene, 'sendTestEmail')).status).toBe(429);
  });
});

const SETTING: readonly Changing[] = [
  ...(['changeKey', 'setAllowlist', 'changeProject', 'changeWebhook', 'putDocument'] as const),
  ...(['revokeKey', 'revokeToken', 'confirmEmail', 'stopRecovery', 'closeEngine'] as const),
];
const DELETING: readonly Changing[] = ['deleteWebhook', 'deleteDocument', 'closeConnection'];

describe('a repeated request', () => {
  it.each([...SETTING, ...DELETING])('changes nothing, and sends no email: %s', async (id) => {
    const scene = await newScene(id);
    const first = await perform(scene, id);
    const emails = scene.service.emails.length;
    scene.service.clock.skip(1000);
    const again = await withoutEffect(scene, () => perform(scene, id));
    expect(scene.service.emails).toHaveLength(emails);
    if (DELETING.includes(id)) expect(again.status).toBe(404);
    else expect([again.status, again.body]).toEqual([first.status, first.body]);
  });
});
