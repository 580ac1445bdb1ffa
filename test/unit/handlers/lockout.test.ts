import { beforeEach, describe, expect, it } from 'vitest';
import { itemKey } from '../../../lib/aws/items.ts';
import { code } from '../../support/documents.ts';
import { memoryService } from '../../support/memory-service.ts';
import type { Client, Project } from '../../support/service.ts';

const service = memoryService();
const conflict = [409, 'conflict'];
const elsewhere = ['203.0.113.0/24'];
let project: Project;
let admin: Client;
let adminKey: string;

beforeEach(async () => {
  project = await service.project();
  ({ admin, adminKey } = project);
});

const inAnHour = () => new Date(service.clock.now() + 3_600_000).toISOString();
const newAdmin = async (expires_at?: string): Promise<string> =>
  (await admin('POST', '/v1/keys', { body: { type: 'admin', expires_at } })).body.key;
const restrict = (key: string, cidrs: string[], { as = admin, from }: { as?: Client; from?: string } = {}) =>
  as('POST', `/v1/keys/${key}/allowlist`, { body: { cidrs }, ...(from && { from }) });
const revoke = (key: string) => admin('POST', `/v1/keys/${key}/revoke`);

describe('a project', () => {
  it('keeps an admin key that the caller can use from the same address', async () => {
    const rejected = await restrict(adminKey, elsewhere);
    expect(code(rejected)).toEqual(conflict);
    expect(rejected.body.detail).toContain('127.0.0.1');
    expect((await admin('GET', `/v1/keys/${adminKey}/allowlist`)).body.cidrs).toEqual([]);
    expect((await restrict(adminKey, [...elsewhere, '127.0.0.0/8'])).status).toBe(200);

    const second = await newAdmin();
    expect((await restrict(second, elsewhere)).status).toBe(200);
    expect(code(await restrict(adminKey, elsewhere))).toEqual(conflict);
    expect((await restrict(second, [])).status).toBe(200);
    expect((await restrict(adminKey, elsewhere)).status).toBe(200);
    expect(code(await admin('GET', '/v1/keys'))).toEqual([403, 'ip_not_allowed']);
    expect((await service.as(second)('GET', '/v1/keys')).status).toBe(200);
  });

  it('ignores admin keys with an expiry', async () => {
    await newAdmin(inAnHour());
    expect(code(await revoke(adminKey))).toEqual(conflict);
    const { key } = (await admin('POST', `/v1/keys/${adminKey}/rotate`)).body;
    expect(code(await revoke(key))).toEqual(conflict);
    expect(code(await restrict(key, elsewhere))).toEqual(conflict);
    expect((await revoke(adminKey)).status).toBe(200);
    expect((await service.as(key)('GET', '/v1/keys')).status).toBe(200);
  });

  it('accepts a list that includes the caller, also for an admin key with an expiry', async () => {
    const [key, other] = [await newAdmin(inAnHour()), await newAdmin(inAnHour())];
    expect((await restrict(adminKey, elsewhere, { from: '203.0.113.5' })).status).toBe(200);
    const as = service.as(key);
    const detail = 'Include 127.0.0.1. No other admin key without an expiry allows your address.';
    for (const each of [key, other]) {
      expect(await restrict(each, elsewhere, { as })).toMatchObject({ status: 409, body: { detail } });
      expect((await restrict(each, ['127.0.0.0/8'], { as })).status).toBe(200);
      expect((await restrict(each, [], { as })).status).toBe(200);
    }
  });

  it('keeps an admin key without an expiry when one is rotated to a key with an expiry', async () => {
    const rotate = (key: string, expires_at: string | null) =>
      admin('POST', `/v1/keys/${key}/rotate`, { body: { expires_at } });
    const emails = service.emails.length;
    const detail = 'Create another admin key first. This is the last one without an expiry.';
    expect(await rotate(adminKey, inAnHour())).toMatchObject({ status: 409, body: { detail } });
    expect((await admin('GET', '/v1/keys')).body.data).toHaveLength(1);
    expect(service.emails).toHaveLength(emails);

    const second = await newAdmin();
    const expiring = await rotate(second, inAnHour());
    expect(expiring.status).toBe(201);
    expect(code(await rotate(adminKey, inAnHour()))).toEqual(conflict);
    const lasting = (await rotate(expiring.body.key, null)).body;
    expect([lasting.status, lasting.expires_at]).toEqual(['active', null]);
  });

  it('reads no other keys if the key of the caller remains, or as many admin keys without an expiry', async () => {
    const [stolen, expiring] = [await newAdmin(), await newAdmin(inAnHour())];
    const [live, other] = [await project.key('live'), await project.key('live')];
    const body = { expires_at: inAnHour() };
    const change = (path: string, call?: object) => service.as(expiring)('POST', `/v1/keys/${path}`, call);
    const ofUsable = itemKey.usableKeys(project.id).pk;
    service.faults.command = (name, input) =>
      name === 'Get' && JSON.stringify(input).includes(ofUsable) ? new Error('The keys are read') : undefined;
    const answers = [
      await revoke(stolen),
      await change(`${adminKey}/rotate`),
      await change(`${live}/rotate`, { body }),
      await change(`${other}/revoke`),
      await change(`${expiring}/rotate`, { body }),
      await change(`${expiring}/revoke`),
    ];
    service.faults.command = undefined;
    expect(answers.map(({ status }) => status)).toEqual([200, 201, 201, 200, 201, 200]);
  });

  it.each([
    0, 1,
  ])('counts on another admin key if the one that it counts on ends at the same time: %i', async (ended) => {
    const expiring = await newAdmin(inAnHour());
    const others = [await newAdmin(), await newAdmin()];
    let tries = 0;
    service.faults.around = async ({ name }, act) => {
      if (name === 'TransactWrite' && ++tries === 1) await revoke(others[ended] ?? '');
      return act();
    };
    expect((await service.as(expiring)('POST', `/v1/keys/${adminKey}/revoke`)).status).toBe(200);
    delete service.faults.around;
  });

  it('does not guard non-admin keys against lockout', async () => {
    const live = await project.key('live');
    expect((await restrict(live, ['192.0.2.1'])).status).toBe(200);
    const expiring = await newAdmin(inAnHour());

    // Also when the caller's own key expires, and the others are for other addresses.
    expect((await restrict(adminKey, ['127.0.0.9'], { from: '127.0.0.9' })).status).toBe(200);
    expect((await restrict(live, ['192.0.2.2'], { as: service.as(expiring) })).status).toBe(200);
  });
});
