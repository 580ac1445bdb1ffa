import { fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { sqliteOutbox } from '../../../lib/client/outbox.ts';
import { publisher } from '../../../lib/client/publisher.ts';
import { tokenVerifier } from '../../../lib/client/token-verifier.ts';
import { mint } from '../../support/documents.ts';
import { type Client, FAST_DELAYS, useService } from '../../support/service.ts';

const service = useService(FAST_DELAYS);
const directory = mkdtempSync(join(tmpdir(), 'publisher-'));
afterAll(() => rmSync(directory, { recursive: true }));

/**
 * Publishes numbered events as fast as the outbox accepts them, and sends each number to its parent after that. Its process is killed when
 * the service has accepted the third batch, before the publisher knows.
 */
const ENGINE = `
  import { sqliteOutbox } from '${resolve('lib/client/outbox.ts')}';
  import { publisher } from '${resolve('lib/client/publisher.ts')}';
  const [baseUrl, credential, file, from] = process.argv.slice(2);
  let requests = 0;
  const killing = async (...given) => {
    const response = await fetch(...given);
    if (++requests === 3) process.kill(process.pid, 'SIGKILL');
    return response;
  };
  const { publish } = await publisher({ baseUrl, credential, outbox: sqliteOutbox(file), fetch: killing, maxBuffered: 400 });
  for (let i = Number(from); ; i++) {
    const data = { document_key: 'org:acme:killed', revision: i, origin: 'engine-' + process.pid };
    await publish({ type: 'document.deleted', data });
    process.send(i);
  }`;
const program = join(directory, 'engine.mjs');

beforeAll(() => writeFileSync(program, ENGINE));

/** Returns the data of all events, in the order of their revisions. */
async function publishedIn(client: Client): Promise<{ revision: number; origin: string }[]> {
  const published: { revision: number; origin: string }[] = [];
  for (let query = ''; ; ) {
    const { body } = await client('GET', `/v1/events?document_key=org:acme:killed&limit=100${query}`);
    for (const { data } of body.data) published.push(data);
    if (body.next_cursor === null) return published.sort((a, b) => a.revision - b.revision);
    query = `&cursor=${body.next_cursor}`;
  }
}

describe('a publisher', () => {
  it('publishes each acknowledged event once, although its process is killed three times', async () => {
    const { adminKey, admin } = await service.project();
    const file = join(directory, 'outbox.sqlite');
    let last = 0;
    for (let kills = 0; kills < 3; kills++) {
      const child = fork(program, [service.stack.baseUrl, adminKey, file, String(last + 1)], {
        execArgv: ['--disable-warning=ExperimentalWarning'],
      });
      child.on('message', (i: number) => {
        last = i;
      });
      const [, signal] = await once(child, 'exit');
      expect(signal).toBe('SIGKILL');
    }
    const { flush, close } = await publisher({
      baseUrl: service.stack.baseUrl,
      credential: adminKey,
      outbox: sqliteOutbox(file),
    });
    await flush();
    expect(await close()).toBe(0);
    const published = await publishedIn(admin);
    expect(published.length).toBe(new Set(published.map(({ revision, origin }) => `${revision} ${origin}`)).size);
    const revisions = new Set(published.map(({ revision }) => revision));
    expect([...revisions]).toEqual(Array.from({ length: revisions.size }, (_, i) => i + 1));
    expect(revisions.size).toBeGreaterThanOrEqual(last);
  });

  it('drops only the event that the service rejects', async () => {
    const { adminKey, admin } = await service.project();
    const rejected: object[] = [];
    const { publish, close } = await publisher({
      baseUrl: service.stack.baseUrl,
      credential: adminKey,
      onRejected: ({ data }, { errors }) => void rejected.push([data, errors]),
    });
    const data = (revision: number) => ({ document_key: 'org:acme:killed', revision, origin: 'engine' });
    for (const revision of [1, 0, 2]) await publish({ type: 'document.deleted', data: data(revision) });
    expect(await close()).toBe(0);
    expect(await publishedIn(admin)).toEqual([data(1), data(2)]);
    expect(rejected).toEqual([[data(0), [{ field: 'events[1].data.revision', detail: expect.any(String) }]]]);
  });
});

describe('a token verifier', () => {
  it('checks tokens with the service', async () => {
    const { adminKey, admin } = await service.project();
    const verifyToken = tokenVerifier({ baseUrl: service.stack.baseUrl, credential: adminKey });
    const token = await mint(admin, ['org:acme:*'], ['read']);
    expect(await verifyToken(token, { document_key: 'org:acme:a', permission: 'read' })).toMatchObject({
      active: true,
      allowed: true,
      permissions: ['read'],
    });
    expect(await verifyToken(token, { document_key: 'org:acme:a', permission: 'write' })).toMatchObject({
      allowed: false,
    });
    expect(await verifyToken(token, { document_key: 'org:other:a 1', permission: 'read' })).toMatchObject({
      allowed: false,
    });
    expect(await verifyToken('nonsense')).toEqual({ active: false });
  });
});
