import { type ChildProcess, execFileSync, fork, spawnSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { Webhook } from 'standardwebhooks';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { applyChange, fieldsOf, type Replica } from '../../../lib/client/replica.ts';
import { freePort } from '../../support/endpoints.ts';
import { npmStart } from '../../support/npm-start.ts';
import { startProxy } from '../../support/proxy.ts';
import { startReceiver, type TestReceiver } from '../../support/receiver.ts';
import { eventually, request } from '../../support/service.ts';
import { commandsOf, programOf } from '../engines/guide.ts';
import { copyPrograms, engineHome } from '../engines/home.ts';

/** Ten minutes and ten commands are the promise of the guide. */
const MAX_COMMANDS = 10;
const TEN_MINUTES_MS = 600_000;
const CLIENTS = 20;
const PER_SECOND = 60;
const KILLS = 3;
const LEASE_SECONDS = 15;
/** The promise for a revoked token. */
const REVOCATION_MS = 12_000;

const processes = new Set<ChildProcess>();
let home: string;
let tarball: string;
let stack: ReturnType<typeof npmStart>;
let stackPort: number;
let access: { baseUrl: string; key: string };

beforeAll(async () => {
  ({ home, tarball } = engineHome());
  stackPort = await freePort();
  const { base_url: baseUrl, keys } = await startStack();
  access = { baseUrl, key: keys.live };
});
afterAll(async () => {
  for (const each of processes) each.kill('SIGKILL');
  await stack.stop('SIGKILL');
  rmSync(home, { recursive: true, force: true });
});

async function startStack() {
  stack = npmStart(join(home, 'stack'), ['--keep', '--port', String(stackPort), '--receiver-port', '0']);
  return (await stack.ready()).stack;
}

async function restartStack(): Promise<void> {
  await stack.stop('SIGTERM');
  await startStack();
}

const responds = (url: string): Promise<boolean> =>
  fetch(url, { signal: AbortSignal.timeout(2000) }).then(
    (response) => response.text().then(() => true),
    () => false,
  );

/** Sends a request, again after 503, which a busy machine can cause. */
function post(path: string, body?: object) {
  const headers = { Authorization: `Bearer ${access.key}`, 'Idempotency-Key': randomUUID() };
  return eventually(async () => {
    const answer = await request(access.baseUrl, 'POST', path, { ...(body && { body }), headers });
    if (answer.status === 503) return undefined;
    expect(answer.status).toBeLessThan(300);
    return answer.body ?? {};
  });
}

/** A program of the guide in its own folder. */
interface Engine {
  directory: string;
  port: number;
  url: string;
}

/** Starts a program of the guide, behind a proxy that responds to its first request for the keys of tokens with 503. */
async function startEngine({ directory, port }: Engine, target = access.baseUrl): Promise<ChildProcess> {
  let isFirst = true;
  const baseUrl = await startProxy(target, {
    response(answered, { path }) {
      if (path !== '/v1/tokens/keys' || !isFirst) return;
      isFirst = false;
      answered.status = 503;
    },
  });
  const env = { ...process.env, BASE_URL: baseUrl, KEY: access.key };
  const execArgv = ['--disable-warning=ExperimentalWarning'];
  const engine = fork(join(directory, 'engine.mjs'), { cwd: directory, env, execArgv, silent: true });
  processes.add(engine);
  engine.stderr?.on('data', (text) => process.stderr.write(text));
  await eventually(() => engine.exitCode !== null || responds(`http://127.0.0.1:${port}`));
  return engine;
}

async function kill(engine: ChildProcess): Promise<void> {
  engine.kill('SIGKILL');
  await once(engine, 'exit');
}

/** Connects a process to an engine. `states` contains what happens to its connection, as it happens. */
async function connectGuest(engine: Engine, program: string, options: { name: string; token: string; field: string }) {
  const guest = fork(join(engine.directory, program), [JSON.stringify({ url: engine.url, ...options })], {
    execArgv: [],
  });
  processes.add(guest);
  const states: string[] = [];
  guest.on('message', (state: string) => states.push(state));
  await eventually(() => states.length > 0);
  return { guest, states };
}

interface Event {
  type: string;
  data: { document_key?: string; revision?: number; user?: string };
}

/** Verifies the events that have arrived. */
function eventReader({ received }: TestReceiver, secret: string): () => Event[] {
  const webhook = new Webhook(secret);
  const events: Event[] = [];
  return () => {
    for (const { headers, body } of received.slice(events.length)) events.push(webhook.verify(body, headers) as Event);
    return events;
  };
}

interface Outcome {
  edits: Record<string, string[]>;
  replicas: [key: string, fields: Record<string, unknown>][];
}

const PROGRAMS = {
  hocuspocus: {
    heading: 'The engine',
    port: 4001,
    protocol: 'ws',
    /** Adds a storage, and publishes more often. */
    adapted: (program: string) =>
      `import { storage } from './storage.mjs';\n${program}`.replace(
        'extensions: [sync]',
        'quiet: true, debounce: 200, maxDebounce: 1000, extensions: [storage, sync]',
      ),
    field: (name: string) => `fields.${name}`,
    restarts: true,
  },
  automerge: {
    heading: 'Automerge',
    port: 4002,
    protocol: 'ws',
    adapted: (program: string) => program,
    field: (name: string) => name,
    restarts: false,
  },
  express: {
    heading: 'Any other engine',
    port: 4003,
    protocol: 'http',
    adapted: (program: string) => program,
    field: (name: string) => name,
    restarts: false,
  },
} as const;

/** Writes the program of an engine, and creates a webhook and a token for its documents. */
async function prepare(name: keyof typeof PROGRAMS) {
  const { heading, port: guidePort, protocol, adapted } = PROGRAMS[name];
  const [directory, port] = [join(home, name), await freePort()];
  copyPrograms(directory);
  const program = adapted(programOf(heading)).replace(String(guidePort), String(port));
  const withLease = program.replace("'./document-sync'", `'./document-sync', leaseSeconds: ${LEASE_SECONDS}`);
  expect(withLease).toMatch(/leaseSeconds/);
  writeFileSync(join(directory, 'engine.mjs'), withLease);
  const pattern = name === 'automerge' ? 'automerge:*' : `org:${name}:*`;
  const receiver = await startReceiver();
  const types = ['document.created', 'document.changed', 'connection.lost'];
  const documents = name === 'automerge' ? {} : { documents: [pattern] };
  const { secret } = await post('/v1/webhooks', { url: receiver.url, events: types, ...documents });
  const mint = (members: object = {}) =>
    post('/v1/tokens', { documents: [pattern], permissions: ['read', 'write'], ttl: 3600, ...members });
  return {
    directory,
    port,
    url: `${protocol}://127.0.0.1:${port}`,
    receiver,
    arrived: eventReader(receiver, secret),
    mint,
  };
}

describe.each(['hocuspocus', 'automerge', 'express'] as const)('the program for %s', (name) => {
  const { protocol, restarts, field } = PROGRAMS[name];

  it('publishes every acknowledged edit once, although it is killed three times, and serves each client as its token allows', async () => {
    const program = await prepare(name);
    const { receiver, arrived, mint } = program;
    let engine = await startEngine(program);
    const names = ['a', 'b', 'c', 'd'].map((letter) => `org:${name}:${letter}`);
    const { token } = await mint({ user: 'editor' });
    const options = { url: program.url, token, names, count: CLIENTS, perSecond: PER_SECOND };
    const clients = fork(join(program.directory, `${name}-clients.mjs`), [JSON.stringify(options)], { execArgv: [] });
    processes.add(clients);
    const [keys] = (await Promise.race([once(clients, 'message'), once(clients, 'exit').then(() => [])])) as [string[]];
    expect(new Set(keys).size).toBe(names.length);
    /** Waits until new edits were published and delivered. */
    const busy = async () => {
      const before = receiver.received.length;
      await eventually(() => receiver.received.length >= before + names.length);
    };
    for (let kills = 0; kills < KILLS; kills++) {
      await busy();
      if (restarts && kills < 2) await restartStack();
      await kill(engine);
      engine = await startEngine(program);
    }
    await busy();
    if (name !== 'express') await serveGuests(name, program, keys[0] ?? '');

    clients.send('finish');
    const [{ edits, replicas }] = (await once(clients, 'message')) as [Outcome];
    expect(Object.values(edits).flat().length).toBeGreaterThan(PER_SECOND);
    const eventsOf = (key: string) => arrived().filter(({ data }) => data.document_key === key && data.revision);
    const copyOf = (key: string) => fieldsOf(eventsOf(key).reduce<Replica | undefined>(applyChange, undefined)) ?? {};
    for (const [key, fields] of replicas) {
      const expected = Object.fromEntries(Object.entries(fields).map(([own, value]) => [field(own), value]));
      await eventually(() => Object.keys(copyOf(key)).length >= Object.keys(expected).length);
      expect(copyOf(key)).toEqual(expected);
      expect(Object.keys(expected)).toEqual(expect.arrayContaining((edits[key] ?? []).map(field)));
    }
    for (const key of new Set(keys)) {
      const contents = new Map<number, Set<string>>();
      for (const { data } of eventsOf(key)) {
        const revision = data.revision ?? 0;
        contents.set(revision, (contents.get(revision) ?? new Set()).add(JSON.stringify(data)));
      }
      expect([...contents.values()].filter(({ size }) => size !== 1)).toEqual([]);
      expect([...contents.keys()].sort((a, b) => a - b)).toEqual([...contents.keys()].map((_, place) => place + 1));
    }

    const lost = () =>
      arrived().filter(({ type, data }) => type === 'connection.lost' && data.user === 'editor').length;
    const before = lost();
    await kill(engine);
    clients.disconnect();
    if (protocol === 'ws') await eventually(() => lost() >= before + CLIENTS);
  });
});

it('keeps every digit, and shows no stack to a client: express', async () => {
  const program = await prepare('express');
  const engine = await startEngine(program);
  const { token } = await program.mint();
  const call = (method: string, path: string, body?: string) =>
    fetch(`${program.url}/documents/${path}`, {
      method,
      headers: { Authorization: `Bearer ${token}`, 'Content-Type': 'application/json' },
      ...(body !== undefined && { body }),
    });
  const exact = '{"id":219587039534784511,"large":1e400,"list":[1.0,-0]}';
  const [name, key] = ['org:express:digits%2F1', 'org:express:digits~2F1'];
  await eventually(async () => (await call('GET', name)).status !== 503); // the proxy fails once
  expect(await (await call('PATCH', name, exact)).text()).toBe(exact);
  expect(await (await call('GET', name)).text()).toBe(exact);
  await eventually(() =>
    program.receiver.received.some(({ body }) => body.includes(`"fields":${exact}`) && body.includes(key)),
  );
  expect((await call('PATCH', name, '{"id":219587039534784512}')).status).toBe(200);
  await eventually(() => program.receiver.received.some(({ body }) => body.includes('"new_value":219587039534784512')));
  const invalid = await call('PATCH', name, '{"id":');
  expect(invalid.status).toBe(400);
  expect(await invalid.text()).not.toMatch(/node_modules|\bat /);
  expect((await call('GET', 'org:other:a')).status).toBe(403);
  expect((await call('GET', 'org:express:none')).status).toBe(404);
  await kill(engine);
  const offline = await startEngine(program, `http://127.0.0.1:${await freePort()}`);
  const unavailable = await call('GET', name);
  expect([unavailable.status, await unavailable.json()]).toEqual([503, { detail: 'Try again later.' }]);
  await kill(offline);
});

/** Connects a client that can only read, one with a foreign token, one that is killed, one that leaves, and one whose token is revoked. */
async function serveGuests(
  name: 'hocuspocus' | 'automerge',
  program: Awaited<ReturnType<typeof prepare>>,
  document: string,
): Promise<void> {
  const { arrived, mint } = program;
  const connect = async (user: string, members: object = {}) => {
    const { token, token_id } = await mint({ user, ...members });
    return { token_id, ...(await connectGuest(program, `${name}-guest.mjs`, { name: document, token, field: user })) };
  };
  const reader = await connect('reader', { permissions: ['read'] });
  expect(reader.states[0]).toBe(name === 'automerge' ? 'unavailable' : 'connected');
  const foreign = await connect('foreign', { documents: ['org:other:*'] });
  expect(foreign.states[0]).toBe(name === 'automerge' ? 'unavailable' : 'rejected');
  const [killed, leaving, revoked] = [await connect('killed'), await connect('leaving'), await connect('revoked')];
  for (const { states } of [killed, leaving, revoked]) expect(states).toEqual(['connected']);
  killed.guest.kill('SIGKILL');
  leaving.guest.send('leave');
  await post(`/v1/tokens/${revoked.token_id}/revoke`);
  const revokedAt = Date.now();
  await eventually(() => revoked.states.includes('ended'));
  expect(Date.now() - revokedAt).toBeLessThan(REVOCATION_MS);
  const lost = () => arrived().flatMap(({ type, data }) => (type === 'connection.lost' ? [data] : []));
  await eventually(() => lost().some(({ user }) => user === 'killed'));
  expect(lost().filter(({ user }) => user === 'killed')).toHaveLength(1);
  if (name === 'hocuspocus')
    expect(lost().find(({ user }) => user === 'killed')).toMatchObject({ document_key: document });
  expect(lost().filter(({ user }) => user === 'leaving' || user === 'revoked')).toEqual([]);
  await eventually(() => JSON.stringify(arrived()).includes('revoked"'));
  expect(arrived().filter(({ data }) => /"field":"(fields\.)?(reader|foreign)"/.test(JSON.stringify(data)))).toEqual(
    [],
  );
}

/** Runs a program with the packages of the engines, and returns what it prints as JSON. */
function run(file: string) {
  const directory = mkdtempSync(join(home, 'documents-'));
  copyPrograms(directory);
  return JSON.parse(execFileSync(process.execPath, [file], { cwd: directory, encoding: 'utf8', maxBuffer: 2 ** 26 }));
}
/** The changes of fields in events. */
const changesIn = (events: { data: { changes?: { field: string; new_value: unknown; omitted?: string[] }[] } }[]) =>
  events.flatMap(({ data }) => data.changes ?? []);
const large = (letter: string) => letter.repeat(200 * 1024);

it('represents each type of Yjs and Tiptap, and stores what it cannot publish', () => {
  const { received, log, stored, article } = run('yjs-documents.mjs');
  const [created, ...later] = received.types;
  expect(created.data.fields).toEqual({
    'fields.inner': JSON.parse('{"list":[1,[2],{"a":null}],"__proto__":"p"}'),
    'fields.id': '10',
    'fields.bytes': 'AQID',
    'fields.none': null,
    'fields.document': null,
    text: 'plain bold',
    list: [1, 'in a list', { deep: ['1'] }],
  });
  expect(changesIn(later)).toMatchObject([
    { field: 'text', new_value: 'very plain bold' },
    { field: 'text', new_value: null },
  ]);
  expect(received.tiptap[0].data.fields).toEqual({ default: article });
  expect(changesIn(received.tiptap)).toMatchObject([
    { field: 'default', new_value: { content: [{ content: [{ text: 'Title!' }] }, {}, {}, {}] } },
  ]);
  expect(changesIn(received.hostile)).toMatchObject([{ field: 'fields.a' }, { field: 'fields.b' }]);
  expect(stored.hostile.sort()).toEqual(['a', 'b', 'id', 'in']);
  expect(changesIn(received.large)).toMatchObject([
    { field: 'fields.text', new_value: large('b'), omitted: ['old_value'] },
    { field: 'fields.title', new_value: 'T' },
    { field: 'fields.text', new_value: null, omitted: ['old_value', 'new_value'] },
    { field: 'fields.title', new_value: 'U' },
  ]);
  expect(changesIn(received.order)).toMatchObject([{ field: 'fields.title' }, { field: 'fields.title' }]);
  expect(received.own[0].data.fields).toEqual({ keys: ['title'], map: { title: 'T' } });
  expect(received.failing).toMatchObject([{ data: { revision: 1, fields: { 'fields.title': 'T' } } }]); // when it was loaded
  expect(received).not.toHaveProperty('missing');
  expect(received['bad~20name~20']).toHaveLength(1);
  expect(stored).toMatchObject({ failing: ['title'], invalid: ['title'] });
  expect(log).toContain('failing: the fields cannot be read, so changes are not published: no fields');
  expect(log).toContain(
    'org::a: the document is stored, but its change is not published: org::a is not a valid document key, so no event can name it.',
  );
});

it('represents each type of Automerge, and stores what it cannot publish', () => {
  const { received, key, log, stored } = run('automerge-documents.mjs');
  const [created, ...later] = received.document;
  expect(created.data).toMatchObject({
    document_key: key,
    fields: {
      title: 'Text',
      count: 3,
      at: '1970-01-01T00:00:00.000Z',
      bytes: 'AQID',
      big: '1152921504606846976',
      fixed: 'fixed',
      list: [1, { a: null }],
      none: null,
    },
  });
  const changes = changesIn(later);
  expect(changes.map(({ field, omitted }) => [field, omitted])).toEqual([
    ['count', undefined],
    ['deep', undefined],
    ['title', undefined],
    ['large', ['new_value']],
    ['last', undefined],
  ]);
  expect(later.at(-1)).toMatchObject({ type: 'document.deleted' });
  expect(log).toContain(`${key}: the fields cannot be read, so changes are not published: no fields`);
  expect(stored).toContain('last');
});

it('has the types of the engines', () => {
  const directory = mkdtempSync(join(home, 'types-'));
  writeFileSync(
    join(directory, 'types.mts'),
    `
    import { Repo } from '@automerge/automerge-repo';
    import { WebSocketServerAdapter } from '@automerge/automerge-repo-network-websocket';
    import { Server } from '@hocuspocus/server';
    import { documentSync as automergeSync } from '@document-sync-service/client/automerge';
    import { createEngine, exactNumbers, type Grant, keyOf } from '@document-sync-service/client/engine';
    import { documentSync } from '@document-sync-service/client/hocuspocus';
    import type * as Y from 'yjs';

    const access = { baseUrl: 'https://api.example.com', credential: 'key', directory: './document-sync' };
    new Server({ extensions: [documentSync(access)] });
    new Server({ extensions: [documentSync({ ...access, fields: (document: Y.Doc) => ({ title: document.getText('title') }) })] });
    new Server({ extensions: [documentSync({ ...access, address: ({ requestHeaders }) => requestHeaders.get('x-real-ip') ?? undefined })] });
    // @ts-expect-error The directory is required.
    documentSync({ baseUrl: '', credential: '' });

    declare const sockets: ConstructorParameters<typeof WebSocketServerAdapter>[0];
    const { shareConfig, start, verifyClient, ready } = automergeSync({ ...access, fields: ({ title }) => ({ title }) });
    const network = new WebSocketServerAdapter(sockets);
    const repo = new Repo({ network: [network], shareConfig });
    start({ repo, sockets, network });
    export const used = [verifyClient, ready];

    const engine = await createEngine({ ...access, nodeId: 'mine', leaseSeconds: 30, log: (message) => console.log(message.length) });
    const grant: Grant | null = await engine.authenticate('token', keyOf('a/b'), '203.0.113.7');
    if (grant) engine.disconnected(engine.connected({ grant, onEnd: (reason: string) => console.log(reason) }), { lost: true });
    await engine.saved('a', JSON.parse('{}', exactNumbers));
    await engine.saved('a', null);
`,
  );
  const options =
    '--strict --noEmit --skipLibCheck --module nodenext --target es2023 --lib es2023,dom,dom.asynciterable';
  const compiler = join(dirname(tarball), 'node_modules/.bin/tsc');
  const { stdout } = spawnSync(compiler, [...options.split(' '), 'types.mts'], { cwd: directory, encoding: 'utf8' });
  expect(stdout).toBe('');
});

it('reaches a verified webhook with the commands of the guide, in an empty folder', async () => {
  const [prepare = ''] = commandsOf('Install');
  const [start = ''] = commandsOf('Run it');
  const commands = `${prepare}${start}`.trim().split('\n');
  expect(commands.length).toBeLessThanOrEqual(MAX_COMMANDS);
  const directory = mkdtempSync(join(home, 'newcomer-'));
  const ports = [await freePort(), await freePort()];
  const own = (text: string) => text.replaceAll('4000', String(ports[0])).replaceAll('4001', String(ports[1]));
  const files = { 'engine.mjs': 'The engine', 'client.mjs': 'A client', 'receiver.mjs': 'A receiver' };
  execFileSync('mkdir', [join(directory, 'my-engine')]);
  for (const [file, heading] of Object.entries(files))
    writeFileSync(join(directory, 'my-engine', file), own(programOf(heading)));
  const rest = commands.filter((command) => !/^export (BASE_URL|KEY|PACKAGE)=/.test(command));
  const script = [
    'set -e',
    `export BASE_URL=${access.baseUrl} KEY=${access.key} PACKAGE=${tarball}`,
    "trap 'kill $(jobs -p)' EXIT",
    ...rest.map((command) => own(command).replace('mkdir my-engine', 'mkdir -p my-engine')),
    // The engines of the other tests share the project, so their events arrive too.
    'until grep -q "^verified document.created .*org:acme:plan" receiver.log; do sleep 0.2; done; cat receiver.log',
    own('curl -s -o /dev/null -w "forged: %{http_code}" http://127.0.0.1:4000/hook -d "{}"'),
  ].map((line) => line.replace('node receiver.mjs &', 'node receiver.mjs > receiver.log &'));
  const path = `${join(resolve('node_modules/.bin'))}:${process.env.PATH}`;
  const printed = execFileSync('bash', ['-c', script.join('\n')], {
    cwd: directory,
    encoding: 'utf8',
    timeout: TEN_MINUTES_MS,
    env: { ...process.env, PATH: path },
  });
  expect(printed).toMatch(/verified document\.created {"document_key":"org:acme:plan",.*"fields\.title":"Edited at/);
  expect(printed).toMatch(/forged: 401$/);
});
