import { execFileSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, it } from 'vitest';
import { programOf } from '../../../stack/engines/guide.ts';
import { temporaryDirectory } from '../../../support/after-file.ts';

/**
 * A client that prints its requests. Its tokens contain what the service says about them. Its outbox rejects events without a time,
 * and all events if the variable FULL is set. It prints the others.
 */
const CLIENT = `
  const request = (method) => async (path, { params, body }) => console.log(JSON.stringify([method, params.path.id, body]));
  export const createClient = () => ({ PUT: request('PUT'), DELETE: request('DELETE') });
  export const sqliteOutbox = () => {};
  export const tokenVerifier = () => async (token) => JSON.parse(token);
  export const publisher = async () => ({
    async publish(event) {
      if (!event.occurred_at) throw new Error('no time');
      if (process.env.FULL) throw new Error('full');
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
    const options = { cwd: directory, env: { ...process.env, ...env }, encoding: 'utf8', stdio: 'pipe' } as const;
    const text = execFileSync(process.execPath, ['--input-type=module', '--eval', program], options);
    return text.split('\n').flatMap((line) => (line ? [JSON.parse(line)] : []));
  };
  return { packageOf, run };
}

it('publishes a stored change after a restart if it did not reach the outbox', () => {
  const { run } = engineDirectory();
  const save = (fields: object) => `import { save } from './shared.mjs'; await save('a', ${JSON.stringify(fields)});`;
  const restart = "import './shared.mjs';";
  expect(() => run(save({ title: 'A' }), { FULL: 'yes' })).toThrow('full');
  const created = { document_key: 'a', revision: 1, fields: { title: 'A' }, origin: 'engine' };
  expect(run(restart)).toEqual([['document.created', created]]);
  expect(() => run(save({ title: 'B' }), { FULL: 'yes' })).toThrow('full');
  const changes = [{ field: 'title', old_value: 'A', new_value: 'B', origin: 'engine' }];
  expect(run(restart)).toEqual([['document.changed', { document_key: 'a', revision: 2, changes }]]);
  expect(run(restart)).toEqual([]);
  const removal = [{ field: 'title', old_value: 'B', new_value: null, origin: 'engine' }];
  expect(run(save({}))).toEqual([['document.changed', { document_key: 'a', revision: 3, changes: removal }]]);
});

it('stores the state of an engine even if no field has changed', () => {
  const program = `
    import { load, save } from './shared.mjs';
    for (const state of ['old', 'new']) await save('a', {}, Buffer.from(state));
    console.log(JSON.stringify(Buffer.from(load('a').state).toString()));`;
  expect(engineDirectory().run(program).at(-1)).toBe('new');
});

const READER = JSON.stringify({ allowed: true, permissions: ['read'] });

it.each([
  ['gives different names different keys', "['a/b', 'a~2Fb', 'x:y*'].map(keyOf)", ['a~2Fb', 'a~7E2Fb', 'x:y~2A']],
  ['opens no document that a token does not allow', `await permissionsFor('${READER.replace('true', 'false')}')`, []],
])('%s', (_, value, expected) => {
  const program = `import { keyOf, permissionsFor } from './shared.mjs'; console.log(JSON.stringify(${value}));`;
  expect(engineDirectory().run(program)).toEqual([expected]);
});

it('renews a connection more than once within its lease, and closes it when it ends', () => {
  const program = `
    import { keepConnection } from './shared.mjs';
    const start = setInterval;
    globalThis.setInterval = (renew, period) => (console.log(period), renew(), start(renew, period));
    keepConnection('c', 'n', 'a')();`;
  const [opened, period, ...later] = engineDirectory().run(program);
  expect(opened).toEqual(['PUT', 'c', { node_id: 'n', lease_seconds: 30, document_key: 'a' }]);
  expect(2 * period).toBeLessThan(opened[2].lease_seconds * 1000);
  expect(later).toEqual([opened, ['DELETE', 'c', null]]);
});

it('changes no document for a token that can only read: Hocuspocus', () => {
  const { packageOf, run } = engineDirectory();
  packageOf('yjs', '');
  packageOf(
    '@hocuspocus/server',
    `
    export class Server {
      constructor(hooks) { this.hooks = hooks; }
      async listen() {
        const connectionConfig = {};
        await this.hooks.onAuthenticate({ token: '${READER}', documentName: 'a', connectionConfig });
        console.log(JSON.stringify(connectionConfig));
      }
    }`,
  );
  expect(run(programOf('Hocuspocus'))).toEqual([{ readOnly: true }]);
});

it('publishes a loaded document after a save that failed, and needs both permissions: Automerge', () => {
  const { packageOf, run } = engineDirectory();
  packageOf('@automerge/automerge-repo-storage-nodefs', 'export class NodeFSStorageAdapter {}');
  packageOf('ws', 'export class WebSocketServer { on() {} }');
  packageOf(
    '@automerge/automerge-repo-network-websocket',
    `export class WebSocketServerAdapter { sockets = { p: { token: '${READER}' } }; }`,
  );
  packageOf(
    '@automerge/automerge-repo',
    `
    export class Repo {
      constructor({ shareConfig }) { shareConfig.access('p', 'a').then((allowed) => console.log(allowed)); }
      find = async () => ({ doc: () => ({ title: 'A' }) });
      async on(_, listener) {
        process.env.FULL = 'yes';
        listener({ type: 'doc-saved', documentId: 'a' });
        await new Promise(setImmediate);
        delete process.env.FULL;
        listener({ type: 'doc-loaded', documentId: 'a' });
      }
    }`,
  );
  const created = { document_key: 'automerge:a', revision: 1, fields: { title: 'A' }, origin: 'engine' };
  expect(run(programOf('Automerge'))).toEqual([false, ['document.created', created]]);
});

it('accepts a change after one that failed, and none for a token that can only read: Express', () => {
  const { packageOf, run } = engineDirectory();
  // A request with its title and the response of the program, instead of a server.
  packageOf(
    'express',
    `
    const request = { params: { name: 'a' }, get: () => 'Bearer ${READER}' };
    const check = (allow) => allow(request, { sendStatus: (status) => console.log(status) }, () => console.log('"allowed"'));
    const express = () => ({
      use() {}, get: (path, allow) => check(allow), listen() {},
      async patch(path, allow, handle) {
        await check(allow);
        const patch = (title) => handle({ params: { name: 'a' }, body: { title } }, { json: (own) => console.log(JSON.stringify(own)) });
        process.env.FULL = 'yes';
        await patch('A').catch(({ message }) => console.log(JSON.stringify(message)));
        delete process.env.FULL;
        await patch('B');
      },
    });
    export default Object.assign(express, { json() {} });`,
  );
  const created = { document_key: 'a', revision: 2, fields: { title: 'B' }, origin: 'engine' };
  const printed = run(programOf('Express and your own store'));
  expect(printed).toEqual(['allowed', 403, 'full', ['document.created', created], { title: 'B' }]);
});
