import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, it } from 'vitest';
import { commandsOf, programOf } from '../../../stack/engines/guide.ts';
import { temporaryDirectory } from '../../../support/after-file.ts';

/**
 * A client that prints its requests when they arrive, the first PUT later than the others and a DELETE. Its tokens contain their
 * documents and permissions, and how many checks find them active. An empty one is not active. Its outbox rejects events without a
 * time, and prints the others. If the variable FULL is set, all requests and all events fail, or the events of the document in it.
 */
const CLIENT = `
  let puts = 0;
  const request = (method) => async (path, { params, body }) => {
    if (method === 'PUT' && puts++ === 0) await new Promise(setImmediate);
    console.log(JSON.stringify([method, params.path.id, body]));
    if (process.env.FULL) throw new Error('no response');
  };
  export const createClient = () => ({ PUT: request('PUT'), DELETE: request('DELETE') });
  export const sqliteOutbox = () => {};
  const used = {};
  export const tokenVerifier = () => async (token, { document_key } = {}) => {
    if (process.env.FULL) throw new Error('no response');
    const { documents, permissions, checks } = token === '' ? { checks: 0 } : JSON.parse(token);
    used[token] = (used[token] ?? 0) + 1;
    if (used[token] > checks) return { active: false };
    return { permissions, allowed: document_key === undefined || documents.includes(document_key) };
  };
  export const publisher = async () => ({
    async publish(event) {
      if (!event.occurred_at) throw new Error('no time');
      if (['yes', event.data.document_key].includes(process.env.FULL)) throw new Error('full');
      console.log(JSON.stringify([event.type, event.data]));
    },
  });
`;

/** A directory with the package and the program that all engines share, and a function that runs another program in it. */
function engineDirectory() {
  const directory = temporaryDirectory();
  const write = (name: string, text: string) => {
    const path = join(directory, name);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, text);
  };
  const packageOf = (name: string, source: string) => {
    write(`node_modules/${name}/package.json`, '{ "type": "module", "exports": "./index.js" }');
    write(`node_modules/${name}/index.js`, source);
  };
  packageOf('@document-sync-service/client', CLIENT);
  write('shared.mjs', programOf('shared.mjs'));
  const run = (program: string, env = {}) => {
    const options = {
      cwd: directory,
      env: { ...process.env, ...env },
      encoding: 'utf8',
      stdio: 'pipe',
      timeout: 60_000, // an open connection keeps a program running
    } as const;
    const text = execFileSync(process.execPath, ['--input-type=module', '--eval', program], options);
    return text.split('\n').flatMap((line) => (line ? [JSON.parse(line)] : []));
  };
  return { packageOf, run };
}

it('publishes a stored change after a restart if it did not reach the outbox, unless it was undone', () => {
  const { run } = engineDirectory();
  const save = (fields: object, key = 'a') =>
    `import { save } from './shared.mjs'; await save('${key}', ${JSON.stringify(fields)});`;
  const restart = "import './shared.mjs';";
  expect(() => run(save({ title: 'A' }), { FULL: 'yes' })).toThrow('full');
  const created = { document_key: 'a', revision: 1, fields: { title: 'A' }, origin: 'engine' };
  expect(run(restart, { FULL: 'yes' })).toEqual([]);
  expect(run(restart)).toEqual([['document.created', created]]);
  const undone = `
    import { save } from './shared.mjs';
    await save('a', { title: 'B' }).catch(() => delete process.env.FULL);
    await save('a', { title: 'A' });`;
  expect(run(undone, { FULL: 'yes' })).toEqual([]);
  expect(() => run(save({ title: 'B' }), { FULL: 'yes' })).toThrow('full');
  const changes = [{ field: 'title', old_value: 'A', new_value: 'B', origin: 'engine' }];
  expect(run(restart)).toEqual([['document.changed', { document_key: 'a', revision: 4, changes }]]);
  expect(run(restart)).toEqual([]);
  const replaced = [
    { field: 'title', old_value: 'B', new_value: null, origin: 'engine' },
    { field: 'constructor', old_value: null, new_value: 1, origin: 'engine' },
  ];
  expect(run(save({ constructor: 1 }))).toEqual([
    ['document.changed', { document_key: 'a', revision: 5, changes: replaced }],
  ]);
  for (const key of ['b', 'c']) expect(() => run(save({}, key), { FULL: 'yes' })).toThrow('full');
  expect(run(restart, { FULL: 'b' })).toMatchObject([['document.created', { document_key: 'c' }]]);
});

it('stores the state of an engine even if no field has changed', () => {
  const program = `
    import { load, save } from './shared.mjs';
    for (const state of ['old', 'new']) await save('a', {}, Buffer.from(state));
    console.log(JSON.stringify(Buffer.from(load('a').state).toString()));`;
  expect(engineDirectory().run(program).at(-1)).toBe('new');
});

const READER = JSON.stringify({ documents: ['a~2Fb', 'automerge:a'], permissions: ['read'] });
/** A token that expires after its first check. */
const EXPIRING = JSON.stringify({ documents: ['a', 'a~2Fb'], permissions: ['read'], checks: 1 });

it.each([
  ['gives different names different keys', "['a/b', 'a~2Fb', 'x:y*'].map(keyOf)", ['a~2Fb', 'a~7E2Fb', 'x:y~2A']],
  ['opens no document that a token does not allow', `await permissionsFor('${READER}', 'b')`, []],
  ['opens no document without a token', "await permissionsFor(undefined, 'b')", []],
])('%s', (_, value, expected) => {
  const program = `import { keyOf, permissionsFor } from './shared.mjs'; console.log(JSON.stringify(${value}));`;
  expect(engineDirectory().run(program)).toEqual([expected]);
});

it.each<[string, object, unknown[]]>([
  ['without responses', { FULL: 'yes' }, []],
  ['until its token has expired', {}, ['ended']],
])('renews a connection more than once within its lease, and closes it when it ends: %s', (_, env, ended) => {
  const program = `
    import { keepConnection } from './shared.mjs';
    const start = setInterval;
    globalThis.setInterval = (renew, period) => (console.log(period), renew(), start(renew, period));
    const end = () => console.log('"ended"');
    keepConnection({ node_id: 'n', document_key: 'a', token: '${EXPIRING}', end })();`;
  const [period, ...printed] = engineDirectory().run(program, env);
  const [opened, ...later] = printed.filter((line) => line !== 'ended');
  expect(opened).toEqual(['PUT', expect.any(String), { node_id: 'n', lease_seconds: 30, document_key: 'a' }]);
  expect(2 * period).toBeLessThan(opened[2].lease_seconds * 1000);
  expect(later).toEqual([opened, ['DELETE', opened[1], null]]);
  expect(printed.filter((line) => line === 'ended')).toEqual(ended);
});

it('opens and changes only what a token allows while it is valid, loads what it stored, and keeps its connections: Hocuspocus', () => {
  const { packageOf, run } = engineDirectory();
  packageOf(
    'yjs',
    `
    export const encodeStateAsUpdate = () => Buffer.from('state');
    export const applyUpdate = (_, state) => console.log(JSON.stringify(Buffer.from(state).toString()));`,
  );
  packageOf(
    '@hocuspocus/server',
    `
    export class Server {
      constructor(hooks) { this.hooks = hooks; }
      async listen() {
        const [documentName, connectionConfig] = ['a/b', {}];
        const document = { getMap: () => ({ toJSON: () => ({ title: 'A' }) }) };
        const close = (name) => () => console.log(JSON.stringify(name + ' closed'));
        const connection = { close: close('connection'), webSocket: { close: close('socket') } };
        const authenticate = (token, documentName) => this.hooks.onAuthenticate({ token, documentName, connectionConfig });
        await authenticate('${READER}', 'b').catch(() => console.log('"rejected"'));
        const context = await authenticate('${EXPIRING}', documentName);
        console.log(JSON.stringify([connectionConfig]));
        await this.hooks.connected({ documentName, context, connection });
        await new Promise(setImmediate);
        await this.hooks.onStoreDocument({ document, documentName });
        await this.hooks.onLoadDocument({ document, documentName });
        const other = await authenticate('${READER}', documentName);
        await this.hooks.connected({ documentName, context: other, connection });
        for (const ended of [context, other]) await this.hooks.onDisconnect({ context: ended });
      }
    }`,
  );
  const document_key = 'a~2Fb';
  const printed = run(programOf('Hocuspocus'));
  const [first, second] = printed.flatMap(([method, id]) => (method === 'PUT' ? [id] : []));
  expect(first).not.toBe(second);
  expect(printed).toEqual([
    'rejected',
    [{ readOnly: true }],
    'connection closed', // its token has expired
    'socket closed',
    ['PUT', first, { node_id: 'hocuspocus', lease_seconds: 30, document_key }],
    ['document.created', { document_key, revision: 1, fields: { title: 'A' }, origin: 'engine' }],
    'state',
    ['PUT', second, { node_id: 'hocuspocus', lease_seconds: 30, document_key }],
    ['DELETE', first, null],
    ['DELETE', second, null],
  ]);
});

it('publishes a loaded document after a save that failed, and each later one, needs both permissions, and continues after an error of a client: Automerge', () => {
  const { packageOf, run } = engineDirectory();
  packageOf('@automerge/automerge-repo-storage-nodefs', 'export class NodeFSStorageAdapter {}');
  packageOf(
    'ws',
    `
    import { EventEmitter } from 'node:events';
    export class WebSocketServer {
      constructor({ verifyClient }) {
        for (const url of ['//', '/?token=nonsense', '/?token=${encodeURIComponent(EXPIRING)}'])
          verifyClient({ req: { url } }, (...result) => console.log(JSON.stringify(result)));
      }
      on(_, connect) {
        const socket = Object.assign(new EventEmitter(), { terminate: () => console.log('"terminated"') });
        connect(socket, { url: '/?token=${encodeURIComponent(EXPIRING)}' });
        socket.emit('error', new Error('Invalid WebSocket frame'));
        socket.emit('close');
      }
    }`,
  );
  packageOf(
    '@automerge/automerge-repo-network-websocket',
    `export class WebSocketServerAdapter {
      sockets = {
        reader: { token: '${READER}', documents: new Set(), OPEN: 1, readyState: 1 },
        known: { token: 'cannot be checked', documents: new Set(['a']), OPEN: 1, readyState: 1 },
        // It disconnects while its first check is repeated.
        waiting: { token: 'cannot be checked', documents: new Set(), OPEN: 1, checks: 0, get readyState() { return ++this.checks; } },
      };
    }`,
  );
  packageOf(
    '@automerge/automerge-repo',
    `
    const titles = ['A', 'A', 'B', 'A'];
    export class Repo {
      constructor({ shareConfig: { access, announce } }) {
        for (const peer of ['reader', 'known', 'waiting', 'disconnected'])
          for (const may of [access, announce]) may(peer, 'a').then((allowed) => console.log(allowed));
      }
      find = async () => ({ doc: () => ({ title: titles.shift() }) });
      async on(_, listener) {
        process.env.FULL = 'yes';
        listener({ type: 'doc-saved', documentId: 'a' });
        await new Promise(setImmediate);
        delete process.env.FULL;
        for (const type of ['doc-loaded', 'doc-saved', 'doc-compacted']) listener({ type, documentId: 'a' });
      }
    }`,
  );
  const document_key = 'automerge:a';
  const changed = (revision: number, old_value: string, new_value: string) => {
    const changes = [{ field: 'title', old_value, new_value, origin: 'engine' }];
    return ['document.changed', { document_key, revision, changes }];
  };
  expect(run(programOf('Automerge'))).toEqual([
    ...[true, true, false, false, false], // known, one check of the waiting peer, and the disconnected one
    [false, 403],
    [false, 503],
    [true, 403],
    'terminated', // its token has expired
    ...[false, false],
    ['PUT', expect.any(String), { node_id: 'automerge', lease_seconds: 30 }],
    ['DELETE', expect.any(String), null],
    ['document.created', { document_key, revision: 1, fields: { title: 'A' }, origin: 'engine' }],
    changed(2, 'A', 'B'),
    changed(3, 'B', 'A'),
    false, // the other check of the waiting peer
  ]);
});

it('keeps two changes at a time after one that failed, and accepts none for a token that can only read: Express', () => {
  const { packageOf, run } = engineDirectory();
  // Requests with their fields and the responses of the program, instead of a server.
  packageOf(
    'express',
    `
    const request = { params: { name: 'a/b' }, get: () => 'Bearer ${READER}' };
    const check = (allow) => allow(request, { sendStatus: (status) => console.log(status) }, () => console.log('"allowed"'));
    const express = () => ({
      use() {}, get: (path, allow) => check(allow), listen() {},
      async patch(path, allow, handle) {
        await check(allow);
        const patch = (body) => handle({ params: { name: 'a/b' }, body }, { json: (own) => console.log(JSON.stringify(own)) });
        process.env.FULL = 'yes';
        await patch({ title: 'A' }).catch(({ message }) => console.log(JSON.stringify(message)));
        delete process.env.FULL;
        await Promise.all([patch({ title: 'B' }), patch({ text: 'C' })]);
      },
    });
    export default Object.assign(express, { json() {} });`,
  );
  const document_key = 'a~2Fb';
  const changes = [{ field: 'text', old_value: null, new_value: 'C', origin: 'engine' }];
  expect(run(programOf('Express and your own store'))).toEqual([
    'allowed',
    403,
    'full',
    ['document.created', { document_key, revision: 2, fields: { title: 'B' }, origin: 'engine' }],
    { title: 'B' },
    ['document.changed', { document_key, revision: 3, changes }],
    { title: 'B', text: 'C' },
  ]);
});

it('applies an event before it responds, and continues after a client that disconnects: Receiver', () => {
  const { packageOf, run } = engineDirectory();
  const client = `
    export const verify = ({ body }) => JSON.parse(body);
    export const applyChange = (_, { type }) => type;
    export const fieldsOf = (replica) => replica;`;
  packageOf('@document-sync-service/client', client);
  const http = `
    const { log } = console;
    console.log = (...values) => log(JSON.stringify(values));
    const listen = (handle) => async () => {
      const response = { writeHead: (status) => ({ end: () => console.log(status) }) };
      await handle(ReadableStream.from((async function* () { throw new Error('aborted'); })()), response);
      await handle([Buffer.from('{"type":"t","data":{"document_key":"a"}}')], response);
    };
    const http = { createServer: (handle) => ({ listen: listen(handle) }) };`;
  const program = programOf('Receiver').replace("import http from 'node:http';", http);
  expect(run(program)).toEqual([[401], ['verified', 't', 'a', 't'], [204]]);
});

it('installs the versions that are tested', () => {
  const { dependencies } = JSON.parse(readFileSync('test/stack/engines/package.json', 'utf8'));
  const commands = ['Run it', 'Automerge', 'Express and your own store'].flatMap(commandsOf).join();
  const installed = [...commands.matchAll(/([@\w/-]+)@(\d+)/g)].map(([, name = '', major]) => [name, major]);
  expect(installed.length).toBeGreaterThan(6);
  expect(installed).toEqual(installed.map(([name = '']) => [name, dependencies[name]?.split('.')[0]]));
});
