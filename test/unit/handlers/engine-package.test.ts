import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { update } from '../../../lib/aws/expressions.ts';
import { itemKey } from '../../../lib/aws/items.ts';
import { engineLease } from '../../../lib/client/engine/lease.ts';
import { tokenVerifier } from '../../../lib/client/token-verifier.ts';
import { listed, mint, openLink } from '../../support/documents.ts';
import { memoryService } from '../../support/memory-service.ts';
import type { Client } from '../../support/service.ts';

const service = memoryService();
beforeEach(() => void vi.useFakeTimers({ toFake: ['Date', 'setTimeout', 'clearTimeout'], now: service.clock.now() }));
afterEach(() => void vi.useRealTimers());

/** The options of the npm package for a service without a network. */
const accessOf = (client: Client, credential: string) => ({
  baseUrl: 'https://api.example.com',
  credential,
  async fetch(url: string | URL | Request, { method = '', body, headers }: RequestInit = {}) {
    const { Authorization: _, ...others } = headers as Record<string, string>;
    const call = { ...(body && { body: JSON.parse(String(body)) }), headers: others };
    const answer = await client(method, new URL(String(url)).pathname, call);
    return new Response(answer.text || null, {
      status: answer.status,
      headers: answer.headers as Record<string, string>,
    });
  },
});

/** The connections that were reported as lost. */
const lostIn = async (client: Client): Promise<string[]> =>
  (await listed(client, '/v1/events?type=connection.lost')).map(({ data }) => data.connection_id).sort();

/** Lets time pass for the service and for the package. */
async function pass(seconds: number): Promise<void> {
  for (let i = 0; i < seconds; i++) {
    await service.clock.advance(1000);
    await vi.advanceTimersByTimeAsync(1000);
  }
}

describe('the npm package', () => {
  it('verifies a token of the service with its public keys, until it is revoked', async () => {
    const { admin, adminKey } = await service.project();
    const verifyToken = tokenVerifier(accessOf(admin, adminKey));
    const token = await mint(admin, ['org:acme:*'], ['read']);
    const check = { document_key: 'org:acme:a', permission: 'read' } as const;
    const own = await verifyToken(token, check);
    const { body } = await admin('POST', '/v1/tokens/verify', { body: { token, ...check } });
    expect(own).toEqual({ ...body, cache_seconds: own.cache_seconds });
    expect(own).toMatchObject({ active: true, allowed: true, cache_seconds: 10 });
    expect(await verifyToken(token, { ...check, permission: 'write' })).toMatchObject({ allowed: false });
    await admin('POST', `/v1/tokens/${own.token_id}/revoke`);
    await pass(10);
    expect(await verifyToken(token)).toEqual({ active: false });
    const newer = await mint(await service.project().then((other) => other.admin), ['org:acme:*'], ['read']);
    expect(await verifyToken(newer)).toEqual({ active: false });
    const session = await openLink(admin, { role: 'editor' });
    expect(await verifyToken(session)).toEqual({ active: false });
  });

  it('keeps the lease of an engine, reports each lost connection once, and opens the others again after an expiry', async () => {
    const { admin, adminKey } = await service.project();
    const log: string[] = [];
    const lease = engineLease({
      ...accessOf(admin, adminKey),
      engineId: 'engine-1',
      leaseSeconds: 60,
      log: (message) => log.push(message),
    });
    const lost = () => lostIn(admin);
    for (const id of ['a', 'b', 'c', 'd'])
      lease.open({ id, node_id: 'engine', document_key: 'org:acme:a', user: `user-${id}` });
    await pass(300);
    expect(await lost()).toEqual([]);
    lease.close('a', true);
    lease.close('b', false);
    await pass(12);
    expect(await lost()).toEqual(['a']);
    await service.clock.advance(120_000); // the package does not run
    expect(await lost()).toEqual(['a', 'c', 'd']);
    vi.setSystemTime(service.clock.now());
    await pass(30);
    lease.close('c', true); // the service knows it again
    await pass(12);
    expect(await lost()).toEqual(['a', 'c', 'c', 'd']);
    await lease.end();
    await service.clock.advance(120_000);
    expect(await lost()).toEqual(['a', 'c', 'c', 'd']);
    expect(log).toEqual([]);
  });

  it('keeps the lease of a project over its budget of deliveries, and sends each change once the budget allows it', async () => {
    const { admin, adminKey, id: projectId } = await service.project();
    const log: string[] = [];
    const lease = engineLease({
      ...accessOf(admin, adminKey),
      engineId: 'engine-1',
      leaseSeconds: 60,
      log: (message) => log.push(message),
    });
    const lost = () => lostIn(admin);
    const open = (...ids: string[]) => {
      for (const id of ids) lease.open({ id, node_id: 'engine' });
    };
    open('lost', 'clean', 'kept');
    await pass(1);
    const deliveriesUsedUntil = service.clock.now() + 60_000 + 300_000;
    await service.table.write([update(itemKey.project(projectId), { deliveriesUsedUntil })]);
    lease.close('lost', true);
    lease.close('clean', false);
    open('late', 'short');
    await pass(12);
    lease.close('short', false);
    await pass(270);
    expect(await lost()).toEqual([]);
    await pass(30);
    expect(await lost()).toEqual(['lost']);
    expect(log).toEqual([expect.stringContaining('caused more deliveries'), expect.stringContaining('again')]);
    await service.clock.advance(120_000); // the package does not run
    expect(await lost()).toEqual(['kept', 'late', 'lost']);
  });
});
