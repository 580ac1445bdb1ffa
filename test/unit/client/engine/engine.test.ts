import { spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, statSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { createEngine, type Engine, type EngineOptions } from '../../../../lib/client/engine/engine.ts';
import { temporaryDirectory } from '../../../support/after-file.ts';
import { type FakeService, fakeService, tokenOf } from '../fake-service.ts';

const home = temporaryDirectory();
const folder = () => mkdtempSync(join(home, 'engine-'));
const engines: Engine[] = [];
beforeEach(() => void vi.useFakeTimers({ toFake: ['Date', 'setTimeout', 'clearTimeout'] }));
afterEach(async () => {
  const closed = engines.splice(0).map((engine) => engine.close());
  await vi.advanceTimersByTimeAsync(60_000);
  await Promise.all(closed);
  vi.useRealTimers();
});
const pass = (seconds: number) => vi.advanceTimersByTimeAsync(seconds * 1000);

async function start(service: FakeService, options: Partial<EngineOptions> = {}) {
  const log: string[] = [];
  const directory = options.directory ?? folder();
  const engine = await createEngine({ ...service.access, log: (message) => log.push(message), ...options, directory });
  engines.push(engine);
  return { engine, log, directory };
}

describe('an engine', () => {
  it('returns what a token allows for a document, and nothing for any other text', async () => {
    const service = await fakeService();
    service.key.cidrs = ['203.0.113.7/32'];
    const { engine } = await start(service);
    const token = await tokenOf(service, { claims: { user: 'u_1', permissions: ['read', 'write'] } });
    expect(await engine.authenticate(token, 'org:acme:a', '203.0.113.7')).toMatchObject({
      permissions: ['read', 'write'],
      documents: ['org:acme:*'],
      user: 'u_1',
      token_id: 'tok_1',
    });
    expect(await engine.authenticate(token, 'org:acme:a')).toBe(null);
    expect(await engine.authenticate(token, 'org:other:a', '203.0.113.7')).toBe(null);
    for (const text of ['', 'nonsense', null, undefined])
      expect(await engine.authenticate(text, 'org:acme:a')).toBe(null);
  });

  it('ends a connection within 12 s of the revocation of its token, without a loss', async () => {
    const service = await fakeService();
    const { engine } = await start(service);
    const grant = await engine.authenticate(await tokenOf(service, { claims: { user: 'u_1' } }), 'org:acme:a');
    const other = await engine.authenticate(await tokenOf(service, { claims: { jti: 'tok_2' } }), 'org:acme:a');
    if (!grant || !other) throw new Error('The tokens are not valid');
    const ended: string[] = [];
    await pass(9.5);
    const id = engine.connected({ grant, document_key: 'org:acme:a', onEnd: () => ended.push('revoked') });
    const lost = engine.connected({ grant: other, node_id: 'n', onEnd: () => ended.push('other') });
    await pass(0.6);
    expect(await engine.authenticate(await tokenOf(service), 'org:acme:a')).not.toBe(null); // requests the keys again
    service.key.revoked_tokens = ['tok_1'];
    await pass(12);
    expect(ended).toEqual(['revoked']);
    for (const each of [id, lost, lost]) engine.disconnected(each, { lost: true });
    await pass(10);
    const changes = service.sentTo('/v1/engines/').flatMap(({ body }) => [...body.opened, ...body.closed]);
    expect(changes).toEqual([
      { id, node_id: 'engine', document_key: 'org:acme:a', user: 'u_1' },
      { id: lost, node_id: 'n' },
      { id },
      { id: lost, lost: true },
    ]);
  });

  it('ends a connection when its token expires, also without a response of the service, unless it has a newer one', async () => {
    let isDown = false;
    const fate = () => {
      if (isDown) throw new TypeError('fetch failed');
      return undefined;
    };
    const service = await fakeService({ fate });
    const { engine, log } = await start(service);
    const now = Math.floor(Date.now() / 1000);
    const ended: string[] = [];
    const open = async (name: string, seconds: number) => {
      const grant = await engine.authenticate(await tokenOf(service, { claims: { exp: now + seconds } }));
      if (!grant) throw new Error('The token is not valid');
      return { grant, id: engine.connected({ grant, onEnd: () => ended.push(name) }) };
    };
    await open('short', 60);
    await open('long', 1000);
    const { id } = await open('replaced', 60);
    engine.renewed(id, (await open('newer', 1000)).grant);
    isDown = true;
    await pass(61);
    expect(ended).toEqual(['short']);
    await pass(400);
    expect(ended).toEqual(['short']);
    expect(log).toContain('Open connections stay without a check of their tokens: fetch failed');
    await pass(600);
    expect(ended.sort()).toEqual(['long', 'newer', 'replaced', 'short']);
  });

  it('requests the keys every 10 s while it has connections, however many', async () => {
    const service = await fakeService();
    const { engine } = await start(service);
    const grant = await engine.authenticate(await tokenOf(service));
    if (!grant) throw new Error('The token is not valid');
    for (let i = 0; i < 1000; i++) engine.connected({ grant, onEnd: () => {} });
    service.sent.length = 0;
    await pass(60);
    expect(service.sentTo('/v1/tokens/keys').length).toBeLessThanOrEqual(6);
    expect(service.sentTo('/v1/engines/').length).toBeLessThanOrEqual(9); // two of them with 1,000 connections
  });

  it('publishes what has changed since the last event, also after a restart', async () => {
    const service = await fakeService();
    const first = await start(service);
    await first.engine.saved('org:a', { title: 'A', map: { x: 1, y: 2 }, id: 10n });
    await first.engine.saved('org:a', { map: { y: 2, x: 1 }, id: '10', title: 'A' });
    await first.engine.saved('org:a', { title: 'B', map: { x: 1, y: 2 }, id: 10n });
    await pass(1);
    expect(service.published).toHaveLength(2);
    await first.engine.close();
    const { engine } = await start(service, { directory: first.directory });
    await engine.saved('org:a', { title: 'B', map: { y: 2, x: 1 }, id: 10n });
    await engine.saved('org:a', { title: 'C', map: { x: 1, y: 2 }, id: 10n });
    await engine.saved('org:a', null);
    await pass(1);
    const at = expect.stringMatching(/^\d{4}-.+Z$/);
    const change = (revision: number, old_value: string, new_value: string) => ({
      type: 'document.changed',
      occurred_at: at,
      data: { document_key: 'org:a', revision, changes: [{ field: 'title', old_value, new_value, origin: 'engine' }] },
    });
    expect(service.published).toEqual([
      {
        type: 'document.created',
        occurred_at: at,
        data: {
          document_key: 'org:a',
          revision: 1,
          fields: { title: 'A', map: { x: 1, y: 2 }, id: '10' },
          origin: 'engine',
        },
      },
      change(2, 'A', 'B'),
      change(3, 'B', 'C'),
      { type: 'document.deleted', occurred_at: at, data: { document_key: 'org:a', revision: 4, origin: 'engine' } },
    ]);
  });

  it('replaces a change that waits by a newer one, and publishes it after a failure of the disk', async () => {
    const service = await fakeService();
    const { engine } = await start(service);
    const { DatabaseSync } = process.getBuiltinModule('node:sqlite');
    await engine.saved('org:a', { n: 0 });
    const exec = vi.spyOn(DatabaseSync.prototype, 'exec').mockImplementation(() => {
      throw new Error('database or disk is full');
    });
    await expect(engine.saved('org:a', { n: 1 })).rejects.toThrow('database or disk is full');
    await expect(engine.saved('org:a', { n: 2 })).rejects.toThrow('database or disk is full');
    await expect(engine.saved('org:b', { n: 3 })).rejects.toThrow('database or disk is full');
    exec.mockRestore();
    await pass(7);
    expect(service.published.map(({ data }) => data)).toMatchObject([
      { document_key: 'org:a', revision: 1, fields: { n: 0 } },
      { document_key: 'org:a', revision: 2, changes: [{ old_value: 0, new_value: 2 }] },
      { document_key: 'org:b', revision: 1, fields: { n: 3 } },
    ]);
  });

  it('publishes changes of one document in order, whatever the order in which they are stored', async () => {
    const service = await fakeService();
    const { engine } = await start(service);
    await Promise.all(Array.from({ length: 50 }, (_, n) => engine.saved('org:a', { n })));
    await engine.saved('org:a', { n: 50 });
    await pass(1);
    const revisions = service.published.map(({ data }) => (data as { revision: number }).revision);
    expect(revisions).toEqual(revisions.map((_, place) => place + 1));
    expect(service.published.at(-1)?.data).toMatchObject({ changes: [{ new_value: 50 }] });
  });

  it.each(['org:a b', 'org:', '.', ''])('publishes no document whose name is no key: %j', async (name) => {
    const { engine } = await start(await fakeService());
    await expect(engine.saved(name, { a: 1 })).rejects.toThrow('is not a valid document key');
  });

  it('logs what the service rejects, and publishes what follows', async () => {
    const problem = {
      code: 'invalid_request',
      detail: 'Invalid.',
      errors: [{ field: 'events[0].data.fields', detail: 'is bad' }],
    };
    const service = await fakeService({
      fate: ({ path, body }) =>
        path.endsWith('/batch') && JSON.stringify(body).includes('bad')
          ? Response.json(problem, { status: 400 })
          : undefined,
    });
    const { engine, log } = await start(service);
    await engine.saved('org:a', { title: 'bad' });
    await engine.saved('org:b', { title: 'good' });
    await pass(5);
    expect(log).toEqual(['The service rejects document.created of org:a: Invalid. events[0].data.fields: is bad.']);
    expect(service.published).toMatchObject([{ data: { document_key: 'org:b' } }]);
  });

  it('owns its directory, and a second process gets one sentence', async () => {
    const { directory } = await start(await fakeService());
    for (const name of readdirSync(directory)) expect(statSync(join(directory, name)).mode & 0o077).toBe(0);
    const source = pathToFileURL(resolve('lib/client/engine/engine.ts')).href;
    const program = join(home, 'second.ts');
    writeFileSync(
      program,
      `import { createEngine } from '${source}';
      await createEngine({ baseUrl: 'https://api.example.com', credential: 'key', directory: process.argv[2] }).catch(({ message }) => console.log(message));`,
    );
    expect(spawnSync(process.execPath, [program, directory], { encoding: 'utf8' }).stdout).toBe(
      `The directory ${directory} cannot be used: another process uses it. Each process of an engine needs its own directory and its own documents.\n`,
    );
  });

  it.each<[object, string]>([
    [{ credential: undefined }, 'Pass credential as an API key or a scoped token'],
    [{ directory: '' }, "Pass directory as the path of a folder, such as './document-sync', not empty text"],
    [{ nodeId: 7 }, 'Pass nodeId as text, not 7'],
    [{ leaseSeconds: 9 }, 'Pass leaseSeconds as a whole number from 10 to 900, not 9'],
    [{ leaseSeconds: 901 }, 'Pass leaseSeconds as a whole number'],
    [{ leaseSeconds: '60' }, 'Pass leaseSeconds as a whole number'],
    [{ log: 'console' }, 'Pass log as a function'],
  ])('says what to pass instead of %o', async (options, message) => {
    const { access } = await fakeService();
    const given = { ...access, directory: folder(), ...options } as unknown as EngineOptions;
    await expect(createEngine(given)).rejects.toThrow(message);
  });

  it('closes its connections without a loss, once', async () => {
    const service = await fakeService();
    const { engine } = await start(service);
    const grant = await engine.authenticate(await tokenOf(service));
    if (!grant) throw new Error('The token is not valid');
    engine.connected({ grant, onEnd: () => {} });
    await pass(1);
    await Promise.all([engine.close(), engine.close()]);
    expect(service.sentTo('/v1/engines/').map(({ method }) => method)).toEqual(['PUT', 'DELETE']);
    await expect(engine.saved('org:a', { a: 1 })).rejects.toThrow();
    expect(vi.getTimerCount()).toBe(0);
  });
});
