import { describe, expect, it } from 'vitest';
import { itemKey } from '../../../lib/aws/items.ts';
import { MAX_USABLE_KEYS } from '../../../lib/keys/usable-keys.ts';
import { code, listed } from '../../support/documents.ts';
import { memoryService } from '../../support/memory-service.ts';

const service = memoryService();
const { administer, clock, db } = service;
const DAY_MS = 24 * 3_600_000;
const full = [409, 'limit_reached'];
const at = (ms: number) => new Date(ms).toISOString();

/** A project with as many usable keys, most of which only count. */
async function projectWith(keys: number) {
  const project = await service.project();
  const live = (await project.admin('POST', '/v1/keys', { body: { type: 'live' } })).body;
  const { pk, sk } = itemKey.usableKeys(project.id);
  const stored = db.get(pk, sk) as { usable: object };
  const others = Array.from({ length: keys - 2 }, (_, i) => [`key_${String(i).padStart(12, '0')}`, 'live']);
  db.put([{ ...stored, usable: { ...Object.fromEntries(others), ...stored.usable } }]);
  const create = (body: object = { type: 'live' }) => project.admin('POST', '/v1/keys', { body });
  const rotate = (body: object = {}) => project.admin('POST', `/v1/keys/${live.id}/rotate`, { body });
  return { ...project, live, create, rotate };
}

describe('a project with 1,000 usable keys', () => {
  it('has no place for another one, and changes nothing', async () => {
    const { admin, id, create, rotate, live } = await projectWith(MAX_USABLE_KEYS);
    // The budget of emails has changed, because an email is reserved before the change. So has the use of the admin key.
    const items = () =>
      [...db.items()].filter((item) => JSON.stringify(item).includes(id) && !/^(EMAILS|KEY)#/.test(String(item.pk)));
    const before = [items(), service.emails.length];
    const limit = 'A project can have at most 1000 keys that are neither revoked nor expired.';
    for (const type of ['live', 'admin'] as const) {
      const { status, body } = await create({ type });
      expect([status, body.code, body.detail]).toEqual([...full, `Revoke a key first. ${limit}`]);
    }
    const rejected = await rotate();
    expect(code(rejected)).toEqual(full);
    expect(rejected.body.detail).toBe(`Revoke a key first, or rotate with grace_seconds 0. ${limit}`);
    expect([items(), service.emails.length]).toEqual(before);
    expect((await listed(admin, '/v1/keys')).length).toBe(2);
    expect((await admin('GET', `/v1/keys/${live.id}`)).body).toMatchObject({ status: 'active', replaced_by: null });
  });

  it('has a place after a revocation, an expiry, and for the new key of a rotation without a grace', async () => {
    const { admin, create, rotate } = await projectWith(MAX_USABLE_KEYS - 1);
    const expiring = (await create({ type: 'live', expires_at: at(clock.now() + DAY_MS) })).body;
    expect(code(await create())).toEqual(full);
    const fresh = (await rotate({ grace_seconds: 0 })).body;
    expect(fresh.status).toBe('active');
    expect(code(await create())).toEqual(full);
    await admin('POST', `/v1/keys/${fresh.id}/revoke`);
    expect([(await create()).status, code(await create())]).toEqual([201, full]);
    clock.skip(DAY_MS);
    expect((await admin('GET', `/v1/keys/${expiring.id}`)).body.status).toBe('expired');
    expect([(await create()).status, code(await create())]).toEqual([201, full]);
    await admin('POST', `/v1/keys/${expiring.id}/revoke`); // its place was free already
    expect(code(await create())).toEqual(full);
  });

  it('has no more after concurrent requests', async () => {
    const { create, rotate } = await projectWith(MAX_USABLE_KEYS - 2);
    const answers = await Promise.all([create(), create(), rotate(), create(), create({ type: 'admin' })]);
    const statuses = answers.map(({ status }) => status).sort();
    expect(statuses).toEqual([201, 201, 409, 409, 409]);
  });

  it('still gets a key from the operator, because its owner may have no key to revoke others with', async () => {
    const { id, create, live } = await projectWith(MAX_USABLE_KEYS);
    const { key } = (await administer({ operation: 'create-key', id })) as { key: string };
    const admin = service.as(key);
    expect(code(await create())).toEqual(full);
    await admin('POST', `/v1/keys/${live.id}/revoke`);
    expect(code(await create())).toEqual(full);
    expect(await administer({ operation: 'show', id })).toMatchObject({ keys: MAX_USABLE_KEYS });
  });
});

describe('a key that has ended', () => {
  it('leaves the list 400 days after its revocation or its expiry, whichever came first', async () => {
    const { admin, id } = await service.project();
    const expires_at = at(clock.now() + DAY_MS);
    const create = async (body: object = {}) =>
      (await admin('POST', '/v1/keys', { body: { type: 'live', ...body } })).body.id as string;
    const [revoked, expired, both, rotated] = [
      await create(),
      await create({ expires_at }),
      await create({ expires_at }),
      await create(),
    ];
    await admin('POST', `/v1/keys/${rotated}/rotate`, { body: { grace_seconds: 86_400 } });
    const end = Date.parse(expires_at);
    await clock.advance(end - clock.now());
    const { revoked_at } = (await admin('POST', `/v1/keys/${revoked}/revoke`)).body;
    await clock.advance(DAY_MS);
    await admin('POST', `/v1/keys/${both}/revoke`);
    const ids = async () => (await listed(admin, '/v1/keys')).map((key) => key.id);
    const { expires_at: ofRotated } = (await admin('GET', `/v1/keys/${rotated}`)).body;
    for (const [endedAt, ended] of [
      [end, [expired, both]],
      [Date.parse(revoked_at), [revoked]],
      [Date.parse(ofRotated), [rotated]],
    ].sort(([a], [b]) => Number(a) - Number(b)) as [number, string[]][]) {
      clock.skip(endedAt + 400 * DAY_MS - clock.now() - 2);
      expect(await ids()).toEqual(expect.arrayContaining(ended)); // a request takes a millisecond
      const left = await ids();
      for (const key of ended) {
        expect(db.get(`KEY#${key}`, 'KEY')?.expires).toBe(Math.ceil((endedAt + 400 * DAY_MS) / 1000));
        expect(left).not.toContain(key);
        expect((await admin('GET', `/v1/keys/${key}`)).status).toBe(404);
        expect((await admin('POST', `/v1/keys/${key}/revoke`)).status).toBe(404);
      }
    }
    const { lines } = (await administer({ operation: 'export', id })) as { lines: string[] };
    const exported = lines.map((line) => JSON.parse(line)).filter(({ type }) => type === 'key');
    expect(exported.map(({ data }) => data.id).sort()).toEqual((await ids()).sort());
    expect(exported).toHaveLength(2); // the admin key, and the new key of the rotation
  });
});
