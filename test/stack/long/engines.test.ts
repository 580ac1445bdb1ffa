import { type ChildProcess, execFileSync, fork } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { Webhook } from 'standardwebhooks';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { applyChange, fieldsOf, type Replica } from '../../../lib/client/replica.ts';
import { temporaryDirectory } from '../../support/after-file.ts';
import { freePort } from '../../support/endpoints.ts';
import { npmStart } from '../../support/npm-start.ts';
import { startProxy } from '../../support/proxy.ts';
import { startReceiver } from '../../support/receiver.ts';
import { eventually, request } from '../../support/service.ts';
import { commandsOf, programOf } from '../engines/guide.ts';

const ENGINES = resolve('test/stack/engines');
/** Ten minutes and ten commands are the promise of the guide. */
const MAX_COMMANDS = 10;
const TEN_MINUTES_MS = 600_000;
const CLIENTS = 20;
const PER_SECOND = 60;
const KILLS = 3;

const processes = new Set<ChildProcess>();
let home: string;
let tarball: string;
let stack: ReturnType<typeof npmStart>;
let stackPort: number;
let access: { baseUrl: string; key: string };

beforeAll(async () => {
  const quiet = ['--ignore-scripts', '--no-audit', '--no-fund'];
  execFileSync('npm', ['ci', '--prefix', ENGINES, '--prefer-offline', ...quiet]);
  // Programs in a folder below node_modules/ find the packages of the engines, but none of this repository.
  home = mkdtempSync(join(ENGINES, 'node_modules/.run-'));
  const build = ['infra/commands/package/build.ts', join(temporaryDirectory(), 'package')];
  tarball = execFileSync(process.execPath, build, { encoding: 'utf8' }).trim();
  const client = join(home, 'node_modules/@document-sync-service/client');
  mkdirSync(client, { recursive: true });
  execFileSync('tar', ['--extract', '--file', tarball, '--strip-components=1', '--directory', client]);
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

const responds = (url: string): Promise<boolean> =>
  fetch(url, { signal: AbortSignal.timeout(2000) }).then(
    (response) => response.text().then(() => true),
    () => false,
  );

async function restartStack(): Promise<void> {
  await stack.stop('SIGTERM');
  await startStack();
}

/** Sends a request, again after 503, which a busy machine can cause. */
function post(path: string, body: object) {
  const headers = { Authorization: `Bearer ${access.key}`, 'Idempotency-Key': randomUUID() };
  return eventually(async () => {
    const answer = await request(access.baseUrl, 'POST', path, { body, headers });
    if (answer.status === 503) return undefined;
    expect(answer.status).toBeLessThan(300);
    return answer.body;
  });
}

/** Starts an engine of the guide in its own folder. */
async function startEngine(directory: string, port: number): Promise<ChildProcess> {
  const env = { ...process.env, BASE_URL: await failOnce(access.baseUrl), KEY: access.key };
  const execArgv = ['--disable-warning=ExperimentalWarning'];
  const engine = fork(join(directory, 'engine.mjs'), { cwd: directory, env, execArgv, silent: true });
  processes.add(engine);
  engine.stderr?.on('data', (text) => process.stderr.write(text));
  await eventually(() => engine.exitCode !== null || responds(`http://127.0.0.1:${port}`));
  return engine;
}

/** Returns the URL of a proxy that responds to the first check of each document with 503. */
function failOnce(baseUrl: string): Promise<string> {
  const checked = new Set<string>();
  return startProxy(baseUrl, {
    response(answered, { path, body }) {
      if (path !== '/v1/tokens/verify') return;
      const { document_key } = JSON.parse(body.toString());
      if (document_key === undefined || checked.has(document_key)) return;
      checked.add(document_key);
      answered.status = 503;
    },
  });
}

/** Connects to an engine with a token that expires soon. Returns what happens to the connection, as it happens. */
function connectGuest(directory: string, options: { url: string; name: string; pattern: string }): Promise<string[]> {
  let ttl = 0;
  return eventually(async () => {
    ttl += 5; // on a busy machine, a token can expire before the guest has started
    const { token } = await post('/v1/tokens', { documents: [options.pattern], permissions: ['read'], ttl });
    const guest = fork(join(directory, 'guest.mjs'), [JSON.stringify({ ...options, token })], { execArgv: [] });
    processes.add(guest);
    const states: string[] = [];
    guest.on('message', (state: string) => states.push(state));
    await Promise.race([once(guest, 'message'), once(guest, 'exit')]);
    if (states[0] === 'connected') return states;
    guest.kill('SIGKILL');
    return undefined;
  });
}

interface Outcome {
  edits: Record<string, string[]>;
  replicas: [key: string, fields: Record<string, unknown>][];
}

const isIn = (edits: readonly string[], { fields }: Stored) => edits.every((name) => name in JSON.parse(fields));

/** The documents that an engine has stored. */
function storedIn(directory: string): Stored[] {
  const database = new DatabaseSync(join(directory, 'documents.sqlite'), { readOnly: true });
  try {
    return database.prepare('SELECT key, fields, revision FROM documents').all() as unknown as Stored[];
  } finally {
    database.close();
  }
}

describe.each([
  ['Hocuspocus', 'hocuspocus', 4001, 'ws', true],
  ['Automerge', 'automerge', 4002, 'ws', false],
  ['Express and your own store', 'express', 4003, 'http', false],
] as const)('the program for %s', (heading, engineName, guidePort, protocol, restarts) => {
  it('publishes every acknowledged edit, although it is killed three times', async () => {
    const directory = join(home, engineName);
    mkdirSync(directory);
    const port = await freePort();
    writeFileSync(join(directory, 'shared.mjs'), programOf('shared.mjs'));
    writeFileSync(join(directory, 'engine.mjs'), programOf(heading).replace(String(guidePort), String(port)));
    for (const file of ['clients.mjs', `${engineName}-clients.mjs`]) cpSync(join(ENGINES, file), join(directory, file));
    if (protocol === 'ws') cpSync(join(ENGINES, `${engineName}-guest.mjs`), join(directory, 'guest.mjs'));
    const pattern = engineName === 'automerge' ? 'automerge:*' : `org:${engineName}:*`;
    const receiver = await startReceiver();
    const types = ['document.created', 'document.changed', 'connection.lost'];
    const { secret } = await post('/v1/webhooks', { url: receiver.url, events: types, documents: [pattern] });
    const { token } = await post('/v1/tokens', { documents: [pattern], permissions: ['read', 'write'], ttl: 3600 });

    let engine = await startEngine(directory, port);
    const names = ['a', 'b', 'c', 'd'].map((name) => `org:${engineName}:${name}`);
    const options = { url: `${protocol}://127.0.0.1:${port}`, token, names, count: CLIENTS, perSecond: PER_SECOND };
    const clients = fork(join(directory, `${engineName}-clients.mjs`), [JSON.stringify(options)], { execArgv: [] });
    processes.add(clients);
    const isReady = await Promise.race([once(clients, 'message'), once(clients, 'exit').then(() => null)]);
    expect(isReady).not.toBeNull();
    /** Waits until new edits were published and delivered. */
    const busy = async () => {
      const before = receiver.received.length;
      await eventually(() => receiver.received.length >= before + names.length);
    };
    for (let kills = 0; kills < KILLS; kills++) {
      await busy();
      if (restarts && kills < 2) await restartStack();
      engine.kill('SIGKILL');
      await once(engine, 'exit');
      engine = await startEngine(directory, port);
    }
    const [name = ''] = names;
    const guest = protocol === 'ws' ? await connectGuest(directory, { ...options, name, pattern }) : undefined;
    await busy();
    clients.send('finish');
    const [{ edits, replicas }] = (await once(clients, 'message')) as [Outcome];
    const documents = await eventually(() => {
      const stored = storedIn(directory);
      const isComplete = stored.length === names.length && stored.every((each) => isIn(edits[each.key] ?? [], each));
      return isComplete ? stored : undefined;
    });

    expect(Object.values(edits).flat().length).toBeGreaterThan(PER_SECOND);
    const webhook = new Webhook(secret);
    const events: Event[] = [];
    const arrived = () => {
      for (const { headers, body } of receiver.received.slice(events.length))
        events.push(webhook.verify(body, headers) as Event);
      return events;
    };
    const isComplete = () =>
      documents.every(({ key, revision }) => {
        const found = arrived().filter(({ data }) => data.document_key === key && data.revision !== undefined);
        return new Set(found.map(({ data }) => data.revision)).size === revision;
      });
    await eventually(isComplete);
    for (const { key, fields } of documents) {
      const stored = JSON.parse(fields);
      const own = arrived().filter(({ data }) => data.document_key === key);
      expect(fieldsOf(own.reduce<Replica | undefined>(applyChange, undefined))).toEqual(stored);
      for (const [name, copy] of replicas) if (name === key) expect(copy).toEqual(stored);
    }
    if (guest) {
      await eventually(() => guest.length > 1);
      expect(guest[1]).toBe('ended');
      for (const { fields } of storedIn(directory)) expect(JSON.parse(fields)).not.toHaveProperty('forbidden');
    }
    // An engine that was killed earlier did not have all connections yet if the machine is busy.
    engine.kill('SIGKILL');
    await once(engine, 'exit');
    clients.disconnect();
    if (engineName === 'hocuspocus')
      await eventually(() => arrived().filter(({ type }) => type === 'connection.lost').length >= CLIENTS);
  });
});

interface Stored {
  key: string;
  fields: string;
  revision: number;
}
interface Event {
  type: string;
  data: { document_key?: string; revision?: number };
}

it('reaches a verified webhook with the commands of the guide, in an empty folder', async () => {
  const [prepare = '', run = ''] = commandsOf('Run it');
  const commands = `${prepare}${run}`.trim().split('\n');
  expect(commands.length).toBeLessThanOrEqual(MAX_COMMANDS);
  const directory = mkdtempSync(join(home, 'newcomer-'));
  const ports = [await freePort(), await freePort()];
  const own = (text: string) => text.replaceAll('4000', String(ports[0])).replaceAll('4001', String(ports[1]));
  const files = {
    'shared.mjs': 'shared.mjs',
    'hocuspocus.mjs': 'Hocuspocus',
    'receiver.mjs': 'Receiver',
    'edit.mjs': 'A client',
  };
  mkdirSync(join(directory, 'my-engine'));
  for (const [file, heading] of Object.entries(files))
    writeFileSync(join(directory, 'my-engine', file), own(programOf(heading)));
  const rest = commands.filter((command) => !/^export (BASE_URL|KEY|PACKAGE)=/.test(command));
  const script = [
    'set -e',
    `export BASE_URL=${access.baseUrl} KEY=${access.key} PACKAGE=${tarball}`,
    "trap 'kill $(jobs -p)' EXIT",
    ...rest.map((command) => own(command).replace('mkdir my-engine', 'mkdir -p my-engine')),
    // The engines of the other tests share the project, so their events arrive too.
    'until grep -q "^verified document.created org:acme:notes" receiver.log; do sleep 0.2; done; cat receiver.log',
    own('curl -s -o /dev/null -w "forged: %{http_code}" http://127.0.0.1:4000/hook -d "{}"'),
  ].map((line) => line.replace('node receiver.mjs &', 'node receiver.mjs > receiver.log &'));
  const path = `${join(resolve('node_modules/.bin'))}:${process.env.PATH}`;
  const printed = execFileSync('bash', ['-c', script.join('\n')], {
    cwd: directory,
    encoding: 'utf8',
    timeout: TEN_MINUTES_MS,
    env: { ...process.env, PATH: path },
  });
  expect(printed).toMatch(
    /verified document\.created org:acme:notes~2Fplan \[Object: null prototype\]|verified document\.created org:acme:notes~2Fplan \{ title: 'Edited at/,
  );
  expect(printed).toMatch(/forged: 401$/);
});
