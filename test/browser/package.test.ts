import { execFile } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { promisify } from 'node:util';
import { buildSync } from 'esbuild';
import { beforeAll, describe, expect, it } from 'vitest';
import { temporaryDirectory } from '../support/after-file.ts';
import { mint, put } from '../support/documents.ts';
import { startProgram } from '../support/npm-start.ts';
import { READER_ENVIRONMENT } from '../support/reader-environment.ts';
import { startReceiver } from '../support/receiver.ts';
import { createWebhook, publish } from '../support/requests.ts';
import { eventually, useService } from '../support/service.ts';
import { useDashboard } from './browser.ts';

const service = useService();
const dashboard = useDashboard(service);

const guide = readFileSync('functions/site/docs/guides/receiving.md', 'utf8');
/** An empty project that has only installed the package. */
const directory = temporaryDirectory();
let tarball: string;
const execute = promisify(execFile);
const run = async (command: string, ...args: string[]): Promise<string> =>
  (await execute(command, args, { cwd: directory, env: READER_ENVIRONMENT })).stdout;

beforeAll(async () => {
  tarball = (await execute('npx', ['node', 'infra/commands/package/build.ts'])).stdout.trim();
  writeFileSync(join(directory, 'package.json'), '{ "private": true, "type": "module" }');
  await run('npm', 'install', '--no-audit', '--no-fund', '--prefer-offline', tarball);
});

/** Runs a module in the project with Node.js, and returns what it prints. */
async function runModule(source: string, ...args: string[]): Promise<unknown> {
  writeFileSync(join(directory, 'program.js'), source);
  return JSON.parse(await run('node', 'program.js', ...args));
}

/** Compiles TypeScript modules in strict mode. Returns the errors of the compiler, which begin with the name of the file. */
async function compile(modules: Record<string, string>): Promise<string> {
  for (const [name, source] of Object.entries(modules)) writeFileSync(join(directory, name), source);
  const options = '--strict --noEmit --module nodenext --target es2023 --lib es2023,dom,dom.asynciterable';
  const compiler = `${process.cwd()}/.local/package/node_modules/.bin/tsc`;
  return run(compiler, ...options.split(' '), ...Object.keys(modules)).catch(({ stdout }) => stdout);
}

describe('the npm package', () => {
  it('is installed from a file with its license, because no registry has it, and cannot be published to one', async () => {
    const manifest = JSON.parse(
      readFileSync(`${directory}/node_modules/@document-sync-service/client/package.json`, 'utf8'),
    );
    expect(manifest.private).toBe(true);
    expect(readFileSync(`${directory}/node_modules/${manifest.name}/LICENSE`)).toEqual(readFileSync('LICENSE'));
    const readme = readFileSync('lib/client/README.md', 'utf8');
    const install = `npm install ./${basename(tarball).replace(manifest.version, 'VERSION')}`;
    for (const text of [readme, guide]) expect(text.match(/^npm install .+/gm)).toEqual([install]);
    expect(`It requires Node.js ${manifest.engines.node.replace('>=', '')} or newer.`).toBe(
      /It requires .+?newer\./.exec(readme)?.[0],
    );
    const imports = [...readme.matchAll(/from '(.+)';/g)].map(([, name]) => name);
    const modules = Object.keys(manifest.exports).map((path) => join(manifest.name, path));
    expect(new Set(imports)).toEqual(
      new Set([...modules.filter((name) => !/automerge/.test(name)), '@hocuspocus/server']),
    );
    expect(modules.filter((name) => !readme.includes(name))).toEqual([]);
    expect(readme).not.toContain('npx document-sync'); // npx would install a package with the name of the command
  });

  it('lists, creates and reports problems from Node.js', async () => {
    const { adminKey, admin } = await service.project();
    for (const key of ['a', 'b', 'c']) await put(admin, key, { title: key });
    const source = `
      import { ApiError, createClient, entriesOf } from '@document-sync-service/client';
      const [baseUrl, credential] = process.argv.slice(2);
      const client = createClient({ baseUrl: baseUrl + '/', credential });
      const documents = [];
      for await (const { document_key } of entriesOf(client, '/v1/documents', { query: { limit: 2 } }))
        documents.push(document_key);
      const body = { url: 'https://example.com/hook', events: ['document.changed'] };
      const { data } = await client.POST('/v1/webhooks', { body });
      const { error } = await client.GET('/v1/keys/{key}', { params: { path: { key: 'key_none' } } });
      const rejected = [];
      const proxied = (body) => async () =>
        new Response(body, { status: 502, headers: { 'Content-Length': String(body.length) } });
      for (const send of [fetch, proxied(''), proxied('<h1>'), proxied('{"message":"Bad gateway"}')]) {
        const other = createClient({ baseUrl, credential: 'nonsense', fetch: send });
        const thrown = await entriesOf(other, '/v1/events').next().catch((thrown) => thrown);
        rejected.push([thrown instanceof ApiError, thrown.message, thrown.problem.code ?? thrown.problem.status]);
      }
      console.log(JSON.stringify([documents, data.url, error.code, ...rejected]));`;
    const proxied = [true, '502 without a problem document', 502];
    expect(await runModule(source, service.stack.baseUrl, adminKey)).toEqual([
      ['a', 'b', 'c'],
      'https://example.com/hook',
      'not_found',
      [true, expect.stringMatching(/^401 unauthorized: ./), 'unauthorized'],
      proxied,
      proxied,
      proxied,
    ]);
  });

  it('repeats a request only after 429 and 503, waits for Retry-After of at most a minute or an abort, and each POST takes effect once', async () => {
    const source = `
      import { createClient } from '@document-sync-service/client';
      const [keys, waits] = [[], []];
      globalThis.setTimeout = (act, ms) => void (waits.push(ms), act());
      const date = 'Wed, 21 Oct 2026 07:28:00 GMT';
      const answers = [[429, '2'], [503, '60'], [201], [503, date], [503], [503], [500], [503], [429, '61'], [503]];
      const send = async (request) => {
        keys.push(request.headers.get('Idempotency-Key') + await request.text());
        const [status, retryAfter] = answers.shift();
        const headers = { 'Content-Type': 'application/json', ...(retryAfter && { 'Retry-After': retryAfter }) };
        return new Response('{}', { status, headers });
      };
      const access = { baseUrl: 'https://api.example.com', credential: 'key', fetch: send };
      const client = createClient(access);
      const body = { type: 'document.deleted', data: { document_key: 'a', revision: 1, origin: 'n' } };
      const first = await client.POST('/v1/events', { body });
      const second = await client.GET('/v1/events');
      const third = await client.POST('/v1/events', { body });
      const fourth = await createClient({ ...access, maxRetries: 0 }).GET('/v1/events');
      const fifth = await client.GET('/v1/events');
      globalThis.setTimeout = () => {};
      const controller = new AbortController();
      const aborted = client.GET('/v1/events', { signal: controller.signal }).catch(({ name }) => name);
      await new Promise(setImmediate);
      controller.abort();
      const statuses = [first, second, third, fourth, fifth].map(({ response }) => response.status);
      console.log(JSON.stringify([statuses, await aborted, keys.length, new Set(keys).size, waits]));`;
    expect(await runModule(source)).toEqual([
      [201, 503, 500, 503, 429],
      'AbortError',
      10,
      3,
      [2000, 60_000, 1000, 1000],
    ]);
  });

  it('repeats a change after 503 only if the service applies it once', async () => {
    const source = `
      import { createClient } from '@document-sync-service/client';
      globalThis.setTimeout = (act) => void act();
      const sent = [];
      const send = async (request) => {
        sent.push(request.headers.get('Idempotency-Key'));
        return new Response(null, { status: sent.length === 1 ? 503 : 204 });
      };
      const client = createClient({ baseUrl: 'https://api.example.com', credential: 'key', fetch: send });
      const key = { path: { key: 'a' } };
      const cycle = { node_id: 'n', pattern: '*', push: [{ op: 'delete', document_key: 'a', base_revision: 1 }] };
      const counts = [];
      const requests = [
        () => client.PUT('/v1/documents/{key}', { params: key, body: { fields: {} } }),
        () => client.PATCH('/v1/documents/{key}', { params: { ...key, header: { 'If-Match': '"1"' } }, body: { fields: {} } }),
        () => client.DELETE('/v1/documents/{key}', { params: key }),
        () => client.POST('/v1/sync', { body: { ...cycle, sync_id: 'c' } }),
        () => client.POST('/v1/sync', { body: cycle }),
        () => client.PATCH('/v1/webhooks/{id}', { params: { path: { id: 'whk_1' } }, body: { status: 'enabled' } }),
        () => client.DELETE('/v1/webhooks/{id}', { params: { path: { id: 'whk_1' } } }),
      ];
      for (const request of requests) {
        sent.length = 0;
        await request();
        counts.push([sent.length, new Set(sent).size, sent[0] !== null]);
      }
      console.log(JSON.stringify(counts));`;
    const withKey = [2, 1, true];
    const once = [1, 1, false];
    expect(await runModule(source)).toEqual([withKey, withKey, withKey, [2, 1, false], once, once, once]);
  });

  it('keeps the idempotency key of its caller, and the filters of a list on every page from a given one', async () => {
    const source = `
      import { createClient, entriesOf } from '@document-sync-service/client';
      const sent = [];
      const send = async ({ method, url, headers }) => {
        sent.push(method === 'POST' ? headers.get('Idempotency-Key') : url);
        return Response.json({ data: [], next_cursor: sent.length > 2 ? null : 'next' });
      };
      const client = createClient({ baseUrl: 'https://api.example.com', credential: 'key', fetch: send });
      await client.POST('/v1/keys', { body: { type: 'live' }, params: { header: { 'Idempotency-Key': 'mine' } } });
      const params = { path: { id: 'whk_1' }, query: { status: 'failed', cursor: 'first' } };
      for await (const _ of entriesOf(client, '/v1/webhooks/{id}/deliveries', params));
      console.log(JSON.stringify(sent));`;
    const path = 'https://api.example.com/v1/webhooks/whk_1/deliveries?status=failed&cursor=';
    expect(await runModule(source)).toEqual(['mine', `${path}first`, `${path}next`]);
  });

  it('follows no redirect, so that no other server receives a request', async () => {
    const source = `
      import { createServer } from 'node:http';
      import { createClient } from '@document-sync-service/client';
      const serve = async (respond) => {
        const server = createServer(respond);
        await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
        return 'http://127.0.0.1:' + server.address().port;
      };
      let received = 0;
      const other = await serve((request, response) => response.end(String(++received)));
      const Location = other + '/v1/events';
      const client = createClient({
        baseUrl: await serve((request, response) => response.writeHead(request.method === 'GET' ? 301 : 308, { Location }).end()),
        credential: 'key',
      });
      const body = { type: 'document.deleted', data: { document_key: 'a', revision: 1, origin: 'n' } };
      const calls = [client.GET('/v1/events'), client.POST('/v1/events', { body })];
      const messages = (await Promise.allSettled(calls)).map(({ reason }) => reason.message.replace(/127[^ ]+/g, 'HOST'));
      console.log(JSON.stringify([...messages, received]));
      process.exit();`;
    const message = 'http://HOST redirects requests to http://HOST Set baseUrl to the final address of the service.';
    expect(await runModule(source)).toEqual([message, message, 0]);
  });

  it('requests a page of a list only when its entries are needed', async () => {
    const source = `
      import { createClient, entriesOf } from '@document-sync-service/client';
      const answers = [Response.json({ data: [{ id: 'evt_1' }, { id: 'evt_2' }], next_cursor: 'next' })];
      const send = async () => answers.shift() ?? Promise.reject(new Error('No connection'));
      const client = createClient({ baseUrl: 'https://api.example.com', credential: 'key', fetch: send });
      const read = [];
      for await (const { id } of entriesOf(client, '/v1/events')) {
        read.push(id);
        await new Promise((resolve) => setTimeout(resolve)); // an unhandled rejection would end the process
        if (read.length === 2) break;
      }
      console.log(JSON.stringify(read));`;
    expect(await runModule(source)).toEqual(['evt_1', 'evt_2']);
  });

  it('passes on members and values that a later version adds', async () => {
    const source = `
      import { createClient, entriesOf } from '@document-sync-service/client';
      const event = { id: 'evt_1', type: 'document.moved', timestamp: '2026-01-31T12:00:00.000Z', data: { to: 'b' }, more: 1 };
      const send = async () => Response.json({ data: [event], next_cursor: null, more: 1 });
      const client = createClient({ baseUrl: 'https://api.example.com', credential: 'key', fetch: send });
      for await (const entry of entriesOf(client, '/v1/events')) console.log(JSON.stringify(entry));`;
    expect(await runModule(source)).toMatchObject({ type: 'document.moved', more: 1 });
  });

  it('publishes an event before the process ends, also after a failure', async () => {
    const source = `
      import { publisher } from '@document-sync-service/client';
      let requests = 0;
      const send = async (url, { body }) => {
        if (++requests === 1) throw new Error('No connection');
        console.log(JSON.stringify({ url, ...JSON.parse(body) }));
        return new Response('', { status: 202 });
      };
      const { publish } = await publisher({ baseUrl: 'https://api.example.com', credential: 'key', fetch: send, maxWaitSeconds: 0 });
      void publish({ type: 'document.deleted', data: { document_key: 'a', revision: 2 } });`;
    const url = 'https://api.example.com/v1/events/batch';
    expect(await runModule(source)).toMatchObject({ url, events: [{ type: 'document.deleted' }] });
  });

  it('verifies a real delivery', async () => {
    const { admin } = await service.project();
    const receiver = await startReceiver();
    const { secret } = await createWebhook(admin, receiver.url);
    await publish(admin);
    await receiver.until(1);
    const { headers, body } = receiver.received[0] ?? {};
    const source = `
      import { VerificationError, verify } from '@document-sync-service/client';
      const given = JSON.parse(process.argv[2]);
      const { type } = await verify({ ...given, headers: new Headers(given.headers) });
      const rejected = await verify({ ...given, body: undefined }).catch((error) => error);
      console.log(JSON.stringify([type, rejected instanceof VerificationError, rejected.message]));`;
    expect(await runModule(source, JSON.stringify({ headers, body, secret }))).toEqual([
      'document.changed',
      true,
      'Pass body as text or bytes, before it is parsed, not undefined',
    ]);
  });

  it('says what to pass instead of a wrong argument of a client or a list', async () => {
    const source = `
      import { createClient, entriesOf } from '@document-sync-service/client';
      const requests = [];
      const send = async ({ url }) => {
        requests.push(new URL(url).pathname);
        return Response.json({ id: 'prj_1' });
      };
      const access = { baseUrl: 'https://api.example.com', credential: 'key', fetch: send };
      const client = createClient(access);
      const key = (key) => ({ params: { path: { key } } });
      const messages = [];
      for (const call of [
        () => createClient(),
        () => createClient({ ...access, credential: undefined }),
        () => createClient({ ...access, maxRetries: -1 }),
        () => client.GET('events'),
        () => client.GET('/v1/keys/{key}'),
        () => client.DELETE('/v1/documents/{key}', key('')),
        () => entriesOf(access, '/v1/events').next(),
        () => entriesOf(client, '/v1/events', 100).next(),
        () => entriesOf(client, '/v1/webhooks/{id}/deliveries').next(),
        () => entriesOf(client, '/v1/project').next(),
      ])
        messages.push(await Promise.resolve().then(call).catch(({ name, message }) => name + ': ' + message));
      console.log(JSON.stringify([messages, requests]));`;
    const credential = 'credential as an API key or a scoped token without quotes, spaces or "Bearer", not undefined';
    expect(await runModule(source)).toEqual([
      [
        'TypeError: Pass an object with baseUrl and credential, not undefined',
        `TypeError: Pass ${credential}`,
        'TypeError: Pass maxRetries as a whole number from 0, not -1',
        'TypeError: Pass a path of the API reference, such as /v1/events, not this text',
        'TypeError: Pass params.path.key as text, for /v1/keys/{key}, not undefined',
        'TypeError: Pass params.path.key as text, for /v1/documents/{key}, not empty text',
        'TypeError: Pass the result of createClient first, not this object',
        'TypeError: Pass params as an object, such as { query: { limit: 100 } }, not 100',
        'TypeError: Pass params.path.id as text, for /v1/webhooks/{id}/deliveries, not undefined',
        'TypeError: Pass the path of a list, such as /v1/events, not this text',
      ],
      ['/v1/project'],
    ]);
  });

  it('has the types of every operation, and its README compiles', async () => {
    const readme = readFileSync('lib/client/README.md', 'utf8');
    const blocks = [...readme.matchAll(/```ts\n(.*?)```/gs)].map(([, code = '']) => code);
    expect(blocks.length).toBeGreaterThan(1);
    const given = `declare const rawBody: string; declare const request: Request;
      declare const process: { env: Record<string, string | undefined> };`;
    const program = `${given}\n${blocks.join('\n')}
      if (event.type === 'document.changed') event.data.changes.at(0)?.field;
      export const problems = [data?.id, error?.code];`;
    const moved = program.replaceAll(/document\.(changed|deleted)'/g, "document.moved'");
    const errors = await compile({ 'program.ts': program, 'moved.ts': moved });
    expect(errors).not.toContain('program.ts');
    // The webhook of `createClient`, and the event of `publisher`.
    expect(errors).toMatch(/('"document\.moved"' is not assignable.*){2}/s);
  });

  it('has the command-line tools', async () => {
    const { adminKey } = await service.project();
    const { baseUrl } = service.stack;
    const [, shown = ''] = /^DOCUMENT_SYNC_KEY=\$KEY npx --no (.+) --forward-to/m.exec(guide) ?? [];
    const [name = '', ...options] = shown.replace('{base_url}', baseUrl).split(' ');
    const env = { ...READER_ENVIRONMENT, DOCUMENT_SYNC_KEY: adminKey };
    const listen = startProgram([join(directory, 'node_modules/.bin', name), ...options], env);
    await eventually(() => listen.output().includes('Showing events'));
    const call = ['--base-url', baseUrl, '--key', adminKey];
    // The oldest Node.js and a newer one, in which the file of a command can be the main module.
    for (const node of ['node', process.execPath])
      expect(await run(node, 'node_modules/.bin/document-sync', 'trigger', 'sync.completed', ...call)).toMatch(
        /^evt_\w+\n$/,
      );
    await eventually(
      () => listen.output().match(/evt_\w+ {2}✓ verified {2}sync\.completed {2}attempt 1/g)?.length === 2,
    );
    await expect(run('npx', '--no', 'document-sync')).rejects.toThrow('Name a command: listen, trigger.');
  });

  it('runs in a bundle in a browser, with a scoped token', async () => {
    const { admin } = await service.project();
    await put(admin, 'org:acme:doc-1', { title: 'Draft' });
    const token = await mint(admin, ['org:acme:*'], ['read', 'write']);
    const contents = `
      import { createClient, entriesOf } from '@document-sync-service/client';
      globalThis.check = async (baseUrl, credential) => {
        const client = createClient({ baseUrl, credential });
        const keys = [];
        for await (const { document_key } of entriesOf(client, '/v1/documents', { query: { prefix: 'org:acme' } }))
          keys.push(document_key);
        const body = { node_id: 'page', pattern: 'org:acme:*', push: [], known: {} };
        return [keys, (await client.POST('/v1/sync', { body })).response.status];
      };`;
    const stdin = { contents, resolveDir: directory };
    const [bundle] = buildSync({ stdin, bundle: true, write: false, platform: 'browser', minify: true }).outputFiles;
    expect(bundle?.contents.length).toBeLessThan(12_000);
    const page = await dashboard.open('/docs');
    await page.evaluate(bundle?.text ?? '');
    const given = JSON.stringify([service.stack.baseUrl, token]);
    expect(await page.evaluate(`check(...${given})`)).toEqual([['org:acme:doc-1'], 200]);
  });
});
