import { describe, expect, it } from 'vitest';
import { operations } from '../../../lib/api/operations.ts';
import type { Permission } from '../../../lib/credentials.ts';
import { type CallerType, isRole } from '../../../lib/http/route.ts';
import { code, mint, openLink } from '../../support/documents.ts';
import { memoryService } from '../../support/memory-service.ts';
import type { Client } from '../../support/service.ts';
import {
  newScene,
  type Protected,
  perform,
  plainJson,
  protectedOperations,
  type Scene,
  withoutEffect,
} from './scene.ts';

const CALLERS: readonly [CallerType, Permission[]][] = [
  ['admin', []],
  ['live', []],
  ['test', []],
  ['read', []],
  ['token', ['read']],
  ['token', ['write']],
  ['token', ['read', 'write']],
  ['viewer', []],
  ['editor', []],
];

/** Whether a caller is allowed, from the path and method alone, independent of the operations table. The sync has a push. */
function isAllowed(id: Protected, type: CallerType, permissions: readonly Permission[]): boolean {
  const { method, path } = operations[id];
  if (isRole(type)) {
    if (/^\/v1\/(webhooks|stats|events|documents)/.test(path) && method === 'GET') return true;
    return path === '/v1/tokens/verify' || (type === 'editor' && path.startsWith('/v1/webhooks'));
  }
  if (/^\/v1\/(keys|audit|project)/.test(path)) return type === 'admin';
  const isRead = method === 'GET' && path.startsWith('/v1/documents');
  if (type === 'read') return isRead;
  if (type !== 'token') return true;
  if (!/^\/v1\/(documents|sync|connections)/.test(path)) return false;
  return permissions.includes(isRead || path.startsWith('/v1/connections') ? 'read' : 'write');
}

async function clientOf({ service, admin, live }: Scene, type: CallerType, permissions: Permission[]): Promise<Client> {
  if (type === 'admin') return admin;
  if (type === 'token') return service.as(await mint(service.as(live.key), ['*'], permissions, 600));
  if (isRole(type)) return service.as(await openLink(service.as(live.key), { role: type }));
  return service.as((await admin('POST', '/v1/keys', { body: { type } })).body.key);
}

it('knows a request of every operation with a credential', () => {
  const all = Object.entries(operations).filter(([, { callers }]) => callers !== 'anyone');
  expect([...protectedOperations].sort()).toEqual(all.map(([id]) => id).sort());
});

describe('an operation', () => {
  it.each(
    protectedOperations,
  )('accepts only the callers of the specification, and changes nothing for others: %s', async (id) => {
    const scene = await newScene(id);
    for (const [type, permissions] of CALLERS) {
      const client = await clientOf(scene, type, permissions);
      const send = () => perform(scene, id, { client });
      const label = `${type} ${permissions}`;
      if (isAllowed(id, type, permissions)) expect((await send()).status, label).not.toBe(403);
      else expect(code(await withoutEffect(scene, send)), label).toEqual([403, 'insufficient_permissions']);
    }
  });
});

/** Operations that create their resource if it does not exist, or compare it with their body. */
const OTHERS: readonly Protected[] = ['putDocument', 'patchDocument', 'renewConnection', 'renewEngine'];
const withResource = protectedOperations.filter((id) => operations[id].path.includes('{') && !OTHERS.includes(id));

/** Whether an operation is about something in no environment. */
const isOfProject = (id: Protected): boolean => /^\/v1\/(keys|tokens|audit|project)/.test(operations[id].path);

describe('a resource', () => {
  it.each(withResource)('is not found by another project or in another environment: %s', async (id) => {
    const scene = await newScene(id);
    const stranger = await scene.service.project();
    const sandbox: Client = (method, path, call) => scene.admin(method, `${path}?environment=sandbox`, call);
    for (const client of isOfProject(id)
      ? [stranger.admin]
      : [stranger.admin, await stranger.client('live'), sandbox]) {
      const answer = await withoutEffect(scene, () => perform(scene, id, { client }));
      expect(code(answer)).toEqual([404, 'not_found']);
      expect(answer.body.detail).toMatch(/^No such \w+ exists in this project and environment\.$/);
    }
  });

  const ofWebhook = withResource.filter((id) => operations[id].path.startsWith('/v1/webhooks/'));
  it.each(ofWebhook)('is not found after its webhook is deleted: %s', async (id) => {
    const scene = await newScene(id);
    for (const each of [scene.webhook, scene.recovering])
      expect((await scene.admin('DELETE', `/v1/webhooks/${each.id}`)).status).toBe(204);
    expect(code(await withoutEffect(scene, () => perform(scene, id)))).toEqual([404, 'not_found']);
  });
});

describe('a project and an environment', () => {
  it.each(protectedOperations)('have the same results as in an empty service: %s', async (id) => {
    const headers: Record<string, string> = operations[id].idempotencyKey ? { 'Idempotency-Key': 'same' } : {};
    const scene = await newScene(id);
    const resultWith = async (client: Client, query: string) => {
      const { status, body, headers: received } = await perform(scene, id, { headers, client, query });
      return [status, received['idempotency-replayed'], plainJson(body)];
    };
    const inEmpty = async (query = '') => resultWith((await memoryService().project()).admin, query);
    expect((await perform(scene, id, { headers })).status).toBeLessThan(300);
    const { admin } = await scene.service.project();
    expect(await resultWith(admin, '')).toEqual(await inEmpty());
    const sandbox = '?environment=sandbox';
    if (!isOfProject(id)) expect(await resultWith(scene.admin, sandbox)).toEqual(await inEmpty(sandbox));
  });
});
