import { randomBytes as random } from 'node:crypto';
import { crc32 } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { hashApiKey, type KeyType, newApiKey } from '../../../lib/access/api-key.ts';
import { encodeBase62 } from '../../../lib/access/base62.ts';
import { type KeyRecord, newKeyRecord } from '../../../lib/access/keys.ts';
import type { OnLeak, ProjectRecord } from '../../../lib/access/projects.ts';
import { auditLog } from '../../../lib/aws/dynamodb/audit.ts';
import { apiKeys } from '../../../lib/aws/dynamodb/keys.ts';
import { projects } from '../../../lib/aws/dynamodb/projects.ts';
import type { Email } from '../../../lib/email.ts';
import { leakHandler } from '../../../lib/handlers/leaks.ts';
import { newKey, newProject, now } from '../../memory/contracts/builders.ts';
import { memoryTable } from '../../support/memory-table.ts';

const ADDRESS = '192.0.2.1';

/** A project with one leaked key, and an email service that a test can break. */
async function setUp(onLeak: OnLeak, type: KeyType = 'live') {
  const table = memoryTable();
  const [keys, audit] = [apiKeys(table), auditLog(table)];
  const project = newProject({ onLeak });
  const first = newKey({ projectId: project.id });
  await projects(table).create(project, first);
  const issued = newApiKey(type, now, random);
  const rest = { projectId: project.id, name: null, tokenSecret: 'secret', createdAt: now };
  await keys.create(newKeyRecord(issued, rest), []);
  const emails: Email[] = [];
  const ses = { isDown: false };
  const race = { isLost: false };
  const handle = leakHandler({
    keys: {
      ...keys,
      async revoke(...change) {
        if (race.isLost) await keys.revoke(issued.id, { revokedAt: now - 1 }, undefined, []);
        return keys.revoke(...change);
      },
    },
    projects: projects(table),
    audit,
    sendEmail: async (email) => {
      if (ses.isDown) throw new Error('SES is down');
      emails.push(email);
    },
    clock: () => now,
    random,
  });
  return {
    token: issued.key,
    revoke: (id = issued.id) => keys.revoke(id, { revokedAt: now - 1 }, undefined, []),
    first,
    emails,
    ses,
    race,
    report: (token: string, urls: readonly string[] = ['https://example.com/a']) =>
      handle(
        urls.map((url) => ({ token, type: 'key', url })),
        ADDRESS,
      ),
    change: (change: Partial<ProjectRecord>) => projects(table).change(project.id, change, []),
    record: () => keys.get(issued.id) as Promise<KeyRecord>,
    entries: async () => {
      const filter = { since: 0, actor: undefined, target: issued.id };
      return (await audit.list(project.id, filter, 10)).entries;
    },
  };
}

it('handles the other keys of a report before it fails', async () => {
  const [first, second] = [newApiKey('live', now, random), newApiKey('live', now, random)];
  const marked: string[] = [];
  const handle = leakHandler({
    keys: {
      get: async (id) => newKey({ id, type: 'live', hash: hashApiKey((id === first.id ? first : second).key) }),
      async *adminKeys() {},
      revoke: async () => true,
      markLeaked: async (id) => {
        if (id === first.id) throw new Error('DynamoDB is down');
        await new Promise((resolve) => setImmediate(resolve));
        marked.push(id);
      },
    },
    projects: { get: async (id) => newProject({ id }) },
    audit: auditLog(memoryTable()),
    sendEmail: async () => {},
    clock: () => now,
    random,
  });
  const matches = [first, second].map(({ key }) => ({ token: key, type: 'key', url: '' }));
  await expect(handle(matches, ADDRESS)).rejects.toThrow('DynamoDB is down');
  expect(marked).toEqual([second.id]);
});

describe('a report of a leaked key', () => {
  it.each([
    ['revoke', 'We revoked it', ['key.leaked', 'key.revoked'], 'revoked'],
    ['report', 'It still works', ['key.leaked'], 'reported'],
  ] as const)('with on_leak %s tells the project once', async (onLeak, told, actions, outcome) => {
    const { token, emails, report, entries } = await setUp(onLeak);
    await report(token);
    await report(token);
    expect(emails.map(({ text }) => text)).toEqual([expect.stringContaining(told)]);
    const found = await entries();
    expect(found.map(({ action }) => action).sort()).toEqual(actions);
    expect(found.find(({ action }) => action === 'key.leaked')?.detail.outcome).toBe(outcome);
  });

  it('revokes nothing for a secret that does not belong to the id of the key', async () => {
    const { token, emails, report, record, entries } = await setUp('revoke');
    const id = token.slice(0, 'svc_live_'.length + 12);
    const madeUp = id + 'a'.repeat(32);
    expect(await report(madeUp + encodeBase62(crc32(madeUp), 6))).toMatchObject([{ label: 'false_positive' }]);
    expect((await record()).revokedAt).toBeUndefined();
    expect([emails, await entries()]).toEqual([[], []]);
  });

  it.each([
    ['revoke', 'We revoked it'],
    ['report', 'It still works'],
  ] as const)('with on_leak %s sends the email when it is repeated after SES failed', async (onLeak, told) => {
    const { token, emails, ses, report, record, entries } = await setUp(onLeak);
    ses.isDown = true;
    await expect(report(token)).rejects.toThrow('SES is down');
    expect((await record()).leakedAt).toBeUndefined();
    expect((await record()).revokedAt).toBe(onLeak === 'revoke' ? now : undefined);
    ses.isDown = false;
    await report(token);
    expect(emails.map(({ text }) => text)).toEqual([expect.stringContaining(told)]);
    expect((await entries()).filter(({ action }) => action === 'key.leaked')).toHaveLength(1);
  });

  it('revokes a reported key if on_leak has changed since, without a second email', async () => {
    const { token, emails, report, record, change } = await setUp('report');
    await report(token);
    expect((await record()).revokedAt).toBeUndefined();
    await change({ onLeak: 'revoke' });
    await report(token);
    expect((await record()).revokedAt).toBe(now);
    expect(emails).toHaveLength(1);
  });

  it('states that a key was already revoked if another request revokes it first', async () => {
    const { token, emails, race, report, record, entries } = await setUp('revoke');
    race.isLost = true;
    await report(token);
    expect(await record()).toMatchObject({ revokedAt: now - 1, leakedAt: now });
    expect((await entries()).map(({ action, detail }) => [action, detail.outcome])).toEqual([['key.leaked', 'ended']]);
    expect(emails[0]?.text).toContain('It was already revoked or expired.');
  });

  it('does not revoke the last admin key', async () => {
    const { token, emails, report, record, revoke, first } = await setUp('revoke', 'admin');
    await revoke(first.id);
    await report(token);
    expect((await record()).revokedAt).toBeUndefined();
    expect(emails.map(({ text }) => text)).toEqual([expect.stringContaining('last admin key')]);
  });

  it('keeps the time of an earlier revocation', async () => {
    const { token, emails, report, record, revoke } = await setUp('revoke');
    await revoke();
    await report(token);
    expect((await record()).revokedAt).toBe(now - 1);
    expect(emails.map(({ text }) => text)).toEqual([expect.stringContaining('No action is needed')]);
  });

  it('names at most 20 places, each cut to 2,048 characters', async () => {
    const { token, emails, report, entries } = await setUp('report');
    const urls = Array.from({ length: 1000 }, (_, i) => `https://example.com/${i}/${'x'.repeat(5000)}`);
    await report(token, [...urls, ...urls]);
    const places = emails[0]?.text.match(/^https:.*$/gm) ?? [];
    expect(places).toHaveLength(20);
    expect(places.map(({ length }) => length)).toEqual(Array(20).fill(2048));
    expect((await entries())[0]?.detail.urls).toEqual(places);
  });
});
